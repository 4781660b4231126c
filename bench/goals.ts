import type { Measured } from './measure.js';
import type { MachineUse } from './processes.js';
import { cell, summaryOf, table } from './report.js';

/** A value that was measured, beside the one that is wanted. */
export interface Goal {
  readonly what: string;
  readonly value: number;
  readonly wanted: number;
  /** `most`: the value must not pass what is wanted; else it must reach it. */
  readonly bound?: 'most';
  /** Behind the number; `×` for a ratio is the default. */
  readonly unit?: string;
}

/** The goals of one figure or study, and what the machine was doing meanwhile. */
export interface GoalsOfRun {
  readonly goals: readonly Goal[];
  readonly machine: MachineUse | undefined;
}

export function goalsOf(measured: Measured): Goal[] {
  const { figure: { key, goal, hasQuickTail } } = measured;
  if (goal === undefined) return [];
  const { ratio, governed, bare } = summaryOf(measured);
  const p99: Goal = { what: `${key}, p99 to bare's`, value: governed.p99 / bare.p99, wanted: 1, bound: 'most' };
  return [{ what: `${key}, calls/s to bare's`, value: ratio, wanted: goal }, ...(hasQuickTail ? [p99] : [])];
}

const isReached = ({ value, wanted, bound }: Goal) => (bound === 'most' ? value <= wanted : value >= wanted);
const percent = (share: number | undefined) => (share === undefined ? '?' : `${cell(share * 100, 0)} %`);

/** All that has a goal, in one table, the last words of a run. */
export function goalsText(runs: readonly GoalsOfRun[]): string {
  const rows = runs.flatMap(({ goals, machine }) => goals.map((goal) => {
    const { what, value, wanted, bound, unit = '×' } = goal;
    const digits = unit === '×' ? 2 : 1;
    const by = wanted === 0 ? '' : `${value >= wanted ? '+' : '−'}${cell(Math.abs(value / wanted - 1) * 100, 0)} %`;
    const [seen, limit] = [`${cell(value, digits)} ${unit}`, `${bound === 'most' ? '≤' : '≥'} ${wanted} ${unit}`];
    return [what, seen, limit, isReached(goal) ? 'reached' : 'MISSED', by, percent(machine?.idle), percent(machine?.steal)];
  }));
  if (rows.length === 0) return '';
  const missed = runs.flatMap(({ goals }) => goals).filter((goal) => !isReached(goal)).length;
  return [
    '', `  Goals: ${rows.length - missed} of ${rows.length} reached`, '',
    ...table(['figure', 'seen', 'goal', '', 'by', 'idle', 'steal'], rows, false), '',
  ].join('\n');
}
