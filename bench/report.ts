import type { Verified } from './checks.js';
import type { Environment } from './environment.js';
import { INPUT } from './figures.js';
import { type Measured, median, type Pair, type Phase } from './measure.js';
import type { Options } from './options.js';

export const whole = (value: number) => Math.round(value).toLocaleString('en');
export const cell = (value: number, digits = 1) => value.toFixed(digits);
const megabytes = (bytes: number | undefined) => (bytes === undefined ? '?' : whole(bytes / 1024 / 1024));

export interface Summary {
  readonly ratio: number;
  readonly lowest: number;
  readonly highest: number;
  readonly governed: Phase;
  readonly bare: Phase;
}

/** The median of each column; the ratio is the median of the pairs' ratios, not the ratio of medians. */
export function summaryOf({ pairs }: Measured): Summary {
  const ratios = pairs.map(({ ratio }) => ratio);
  return {
    ratio: median(ratios), lowest: Math.min(...ratios), highest: Math.max(...ratios),
    governed: medianPhase(pairs, 'governed'), bare: medianPhase(pairs, 'bare'),
  };
}

function medianPhase(pairs: readonly Pair[], side: 'governed' | 'bare'): Phase {
  const of = (read: (phase: Phase) => number) => median(pairs.map((pair) => read(pair[side])));
  return {
    requestsPerSecond: of((phase) => phase.requestsPerSecond), p50: of((phase) => phase.p50), p99: of((phase) => phase.p99),
    serverCpu: of((phase) => phase.serverCpu), databaseCpu: of((phase) => phase.databaseCpu),
    memory: pairs.at(-1)![side].memory,
  };
}

export function environmentText(environment: Environment, options: Options): string {
  const { cores, processor, memoryBytes, system, node, postgresql, settings, load } = environment;
  const set = Object.entries(settings).map(([name, value]) => `${name} ${value}`).join(', ');
  return [
    '',
    `  ${cores} cores (${processor}), ${whole(memoryBytes / 2 ** 30)} GiB, ${system}`,
    `  Node.js ${node}, PostgreSQL ${postgresql} (${set})`,
    `  ${load}: ${options.connections} connections, ${whole(options.agents)} agents in turn, ` +
      `input of ${JSON.stringify(INPUT).length} bytes; pool of ${options.poolSize} in each server`,
    `  Phases of ${options.seconds} s after ${options.warmUpSeconds} s of warm-up, the two servers in turn; ` +
      'everything shares these cores.',
    ...(options.profile === undefined ? [] : ['  PROFILED: these figures are no results.']),
    '',
  ].join('\n');
}

export function figureText(measured: Measured): string {
  const { figure, pairs, executions } = measured;
  const { lowest, highest, ...medians } = summaryOf(measured);
  const rows = [...pairs.map((pair, i) => rowOf(String(i + 1), pair)), rowOf('median', medians)];
  const { ratio, governed, bare } = medians;
  const head = ['pair', 'governed/s', 'bare/s', 'ratio', 'p50 ms', 'bare', 'p99 ms', 'bare'];
  return [
    '',
    `  ${figure.title}: ${cell(ratio, 2)} × bare (${cell(lowest, 2)} to ${cell(highest, 2)})`,
    '',
    ...table(head, rows),
    '',
    `  Server memory ${megabytes(governed.memory)} MiB, bare ${megabytes(bare.memory)} MiB. ` +
      `Processor time a call: server ${whole(governed.serverCpu)} µs, bare ${whole(bare.serverCpu)} µs; ` +
      `PostgreSQL ${whole(governed.databaseCpu)} µs, bare ${whole(bare.databaseCpu)} µs.`,
    `  ${whole(executions)} executions, each with ${figure.events.join(' and ')}; no call failed.`,
    '',
  ].join('\n');
}

function rowOf(name: string, { governed, bare, ratio }: Pair): string[] {
  const rates = [whole(governed.requestsPerSecond), whole(bare.requestsPerSecond), cell(ratio, 2)];
  return [name, ...rates, cell(governed.p50), cell(bare.p50), cell(governed.p99), cell(bare.p99)];
}

/** @param summed whether the last row sums up the others */
export function table(head: readonly string[], rows: readonly string[][], summed = true): string[] {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]) => `    ${cells.map((cell, at) => cell.padStart(widths[at]!)).join('   ')}`;
  const rule = `    ${widths.map((width) => '─'.repeat(width)).join('───')}`;
  if (!summed) return [line(head), rule, ...rows.map(line)];
  return [line(head), rule, ...rows.slice(0, -1).map(line), rule, line(rows.at(-1)!)];
}

export function verifiedText({ entries, chains, durationMs }: Verified): string {
  const amount = `${whole(entries)} entries in ${whole(chains)} chains`;
  return `\n  The audit log verifies: ${amount}, read in ${cell(durationMs / 1_000)} s.\n\n`;
}
