import { checkExactly, checkLoad, settled, written } from './checks.js';
import { bodyOf, type Figure } from './figures.js';
import type { LoadGenerator, LoadOrder } from './load/load-generator.js';
import type { Options } from './options.js';
import { cpuSeconds, residentBytes } from './processes.js';
import type { Stage } from './stage.js';

export interface Phase {
  readonly requestsPerSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Processor time a call, in microseconds, of the server's process and of PostgreSQL's; 0 where unknown. */
  readonly serverCpu: number;
  readonly databaseCpu: number;
  /** Bytes that the server's process holds afterwards. */
  readonly memory?: number | undefined;
}

export interface Pair {
  readonly governed: Phase;
  readonly bare: Phase;
  readonly ratio: number;
}

export interface Measured {
  readonly figure: Figure;
  readonly pairs: readonly Pair[];
  /** Calls that were answered in all, warm-ups included. */
  readonly answered: number;
  readonly executions: number;
}

const EXACT_CALLS = 2_000;

export function pairsOf(figure: Figure, { pairs }: Options): number {
  return figure.main ? pairs : Math.ceil(pairs / 2);
}

/** The two sides in turn, never at once; who begins changes with each pair, so that a drift of the machine meets both. */
export async function measure(
  stage: Stage, figure: Figure, allTokens: readonly string[], load: LoadGenerator, options: Options,
  phaseDone: (ratio?: number) => void,
): Promise<Measured> {
  const tokens = figure.callers === 'one' ? allTokens.slice(0, 1) : allTokens;
  await checkExactly(stage, figure, tokens, EXACT_CALLS);
  // Neither side is measured cold: compiled code, open connections and cached plans make up a good part of the speed.
  for (const side of ['bare', 'governed'] as const) await runPhase(stage, side, figure, tokens, load, options);
  await settled(stage.database, figure);
  const before = await written(stage.database, figure);
  const bareBefore = await bareRows(stage);
  const sums = { governed: 0, bare: 0 };
  const pairs: Pair[] = [];
  const count = pairsOf(figure, options);
  for (let pair = 0; pair < count; pair++) {
    const sides = pair % 2 === 0 ? (['governed', 'bare'] as const) : (['bare', 'governed'] as const);
    const phases: Partial<Record<'governed' | 'bare', Phase>> = {};
    for (const side of sides) {
      const { phase, answered } = await runPhase(stage, side, figure, tokens, load, options);
      // The other side begins with a database that has nothing left to do.
      if (side === 'governed') await settled(stage.database, figure);
      phases[side] = phase;
      sums[side] += answered;
      if (side === sides[0]) phaseDone();
    }
    const { governed, bare } = phases as Required<typeof phases>;
    pairs.push({ governed, bare, ratio: governed.requestsPerSecond / bare.requestsPerSecond });
    phaseDone(pairs[pair]!.ratio);
  }
  // A measured stretch and its warm-up each end by cutting off what is under way.
  const cutOff = count * 2 * options.connections;
  const after = await checkLoad(stage, figure, before, sums.governed, cutOff);
  const inserted = (await bareRows(stage)) - bareBefore;
  if (inserted < sums.bare || inserted > sums.bare + cutOff) throw new Error(`${inserted} bare rows for ${sums.bare} answers`);
  return { figure, pairs, answered: sums.governed, executions: after.executions - before.executions };
}

/** Warms up, then measures one side. The database may still have work of it afterwards. */
export async function runPhase(
  stage: Stage, side: 'governed' | 'bare', figure: Figure, tokens: readonly string[], load: LoadGenerator, options: Options,
): Promise<{ phase: Phase; answered: number }> {
  const { url, pid } = stage[side];
  const order = { url: `${url}/api/v1/execute`, tokens, body: bodyOf(figure.capability), connections: options.connections };
  return loadPhase(stage, pid, `${figure.key}, the ${side} server`, order, load, options);
}

/** The same of any calls of a server. */
export async function loadPhase(
  stage: Stage, pid: number, name: string, order: Omit<LoadOrder, 'seconds'>, load: LoadGenerator, options: Options,
): Promise<{ phase: Phase; answered: number }> {
  const warmUp = await load.run({ ...order, seconds: options.warmUpSeconds });
  const spentBefore = [cpuSeconds(pid), cpuSeconds(stage.databasePid, true)] as const;
  const result = await load.run({ ...order, seconds: options.seconds });
  const failed = warmUp.failed + result.failed;
  if (failed > 0) throw new Error(`${name}: ${failed} calls failed`);
  const each = (seconds: number) => (seconds / result.requests) * 1e6;
  const phase = {
    requestsPerSecond: result.requestsPerSecond, p50: result.p50, p99: result.p99,
    serverCpu: each(cpuSeconds(pid) - spentBefore[0]), databaseCpu: each(cpuSeconds(stage.databasePid, true) - spentBefore[1]),
    memory: residentBytes(pid),
  };
  return { phase, answered: warmUp.requests + result.requests };
}

async function bareRows({ database }: Stage): Promise<number> {
  const { rows } = await database.query<{ count: number }>('select count(*)::integer as count from bare_calls');
  return rows[0]!.count;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
