import { APPROVALS_PER_SECOND, ApprovalDesk, type ApprovalTimes, CALLS_PER_SECOND, type GateBeside } from './approvals.js';
import { median } from '../measure.js';
import { cell, table, whole } from '../report.js';
import type { Goal } from '../goals.js';
import type { Study } from '../study.js';

/** Of a load that fell short by more, the figures say less than they seem to. */
const SHORT = 0.97;

export const approveStudy: Study = {
  key: 'approve',
  run: async ({ stage, workFolder, options, progress }) => {
    const title = 'From approval to runtime';
    const [count, seconds] = stretches(options);
    progress.begin(`${title}: agents`, 1);
    const desk = await ApprovalDesk.open(stage, workFolder, (share) => progress.to(share));
    progress.begin(title, 2 * count + 1);
    // Nobody is measured cold: a server that has been called for seconds only is still being compiled, on cores that are wanted.
    await desk.measure(seconds, true);
    progress.step();
    const alone: ApprovalTimes[] = [];
    const beside: ApprovalTimes[] = [];
    for (let i = 0; i < count; i++) {
      for (const withCalls of i % 2 === 0 ? [false, true] : [true, false]) {
        const times = await desk.measure(seconds, withCalls);
        (withCalls ? beside : alone).push(times);
        progress.step(`p99 ${cell(times.p99)} ms`);
      }
    }
    const text = [
      '',
      `  From approval to runtime: p99 ${cell(p99Of(beside))} ms beside ${CALLS_PER_SECOND} gate calls a second ` +
        `(${cell(p99Of(beside) / p99Of(alone), 2)} × the ${cell(p99Of(alone))} ms without)`,
      '',
      ...approvalTable([...alone.map((times) => row('alone', times)), ...beside.map((times) => row('beside calls', times))]),
      '',
      `  ${APPROVALS_PER_SECOND} approvals a second by people, each of a request of its own; milliseconds from sending it until the ` +
        'receiver has the call.',
      '  Each was received exactly once. The figures above are medians over the stretches.',
      `  Processor time an approval with all that follows: server ${whole(of(alone, 'serverCpu'))} µs, PostgreSQL ` +
        `${whole(of(alone, 'databaseCpu'))} µs.`,
      ...beside.flatMap(({ gate }) => notesOn(gate!)),
      '',
    ].join('\n');
    const goal: Goal = { what: 'approve to runtime beside calls, p99', value: p99Of(beside), wanted: 100, bound: 'most', unit: 'ms' };
    return { text, values: { figure: 'approve', alone, beside }, goals: [goal] };
  },
};

export const p99Of = (stretchesOf: readonly ApprovalTimes[]): number => median(stretchesOf.map(({ p99 }) => p99));

/** How many stretches of how many seconds. */
export function stretches({ pairs, seconds }: { readonly pairs: number; readonly seconds: number }): readonly [number, number] {
  return [Math.ceil(pairs / 3), seconds * 4];
}

export function approvalTable(rows: readonly string[][]): string[] {
  const times = ['p50 ms', 'p95 ms', 'p99 ms', 'max ms', '> 100 ms', 'answer p99'];
  return table(['', 'approvals', ...times, 'gate calls/s', 'gate p99'], rows, false);
}

export function row(name: string, { approvals, p50, p95, p99, max, late, answeredP99, gate }: ApprovalTimes): string[] {
  return [
    name, whole(approvals), cell(p50), cell(p95), cell(p99), cell(max), whole(late), cell(answeredP99),
    gate ? whole(gate.perSecond) : '–', gate ? cell(gate.p99) : '–',
  ];
}

const of = (found: readonly ApprovalTimes[], what: 'serverCpu' | 'databaseCpu') => median(found.map((times) => times[what] ?? 0));

/** What a reader must know before believing a stretch. */
function notesOn({ perSecond, failed }: GateBeside): string[] {
  const answers = Object.entries(failed).map(([status, count]) => `${count} with ${status}`);
  return [
    ...(perSecond < CALLS_PER_SECOND * SHORT
      ? [`  NOTE: in one stretch only ${whole(perSecond)} gate calls a second were answered: the machine was too busy.`] : []),
    ...(answers.length > 0 ? [`  NOTE: in one stretch gate calls were answered otherwise than 200: ${answers.join(', ')}.`] : []),
  ];
}
