// What one kind of call costs beside another kind of the same server: each side for as long, one after the other.
import type { Figure } from '../../figures.js';
import { median, type Phase, runPhase } from '../../measure.js';
import { cell, table, whole } from '../../report.js';
import type { StudyContext } from '../../study.js';

export type Sides<Side extends string> = Readonly<Record<Side, () => Promise<Phase>>>;
export type Round<Side extends string> = Readonly<Record<Side, Phase>>;

/** Who begins changes with each round. The first round is thrown away: nobody is measured cold. */
export async function inTurn<Side extends string>(sides: Sides<Side>, count: number, done: () => void): Promise<Round<Side>[]> {
  const names = Object.keys(sides) as Side[];
  const found: Round<Side>[] = [];
  for (let round = 0; round <= count; round++) {
    const phases = {} as Record<Side, Phase>;
    for (const side of round % 2 === 0 ? names : names.toReversed()) {
      phases[side] = await sides[side]();
      done();
    }
    if (round > 0) found.push(phases);
  }
  return found;
}

/** Executions of a capability by these agents, all of which must end as they should. */
export function callsOf(
  { stage, load, options }: StudyContext, capability: string, tokens: readonly string[], side: 'governed' | 'bare' = 'governed',
): () => Promise<Phase> {
  const figure: Figure = {
    key: 'connector', title: capability, capability, callers: 'all', main: true, status: 'executed', events: [],
  };
  return async () => {
    const { phase } = await runPhase(stage, side, figure, tokens, load, options);
    if (side === 'governed') await assertExecuted(stage, capability);
    return phase;
  };
}

/** @throws Error where an execution came to another end: a load generator takes any answer of 200 for good */
export async function assertExecuted({ database }: StudyContext['stage'], capability: string): Promise<void> {
  const { rows } = await database.query<{ status: string; count: number; error: unknown }>(
    `select status, count(*)::integer as count, min(error::text) as error from executions
     where capability = $1 and status not in ('executed', 'running') group by status`, [capability]);
  if (rows.length > 0) throw new Error(`${capability}: ${JSON.stringify(rows)}`);
}

/** The ratio of one side to another, in each round and in the middle. */
export function ratios<Side extends string>(rounds: readonly Round<Side>[], one: Side, other: Side) {
  const each = rounds.map((round) => round[one].requestsPerSecond / round[other].requestsPerSecond);
  return { ratio: median(each), lowest: Math.min(...each), highest: Math.max(...each) };
}

/** A line for each side, of medians. */
export function sidesTable<Side extends string>(rounds: readonly Round<Side>[], names: Readonly<Record<Side, string>>): string[] {
  const row = ([side, name]: [string, string]) => {
    const of = (read: (phase: Phase) => number) => median(rounds.map((round) => read(round[side as Side])));
    return [
      name, whole(of((phase) => phase.requestsPerSecond)), cell(of(({ p50 }) => p50)), cell(of(({ p99 }) => p99)),
      whole(of(({ serverCpu }) => serverCpu)), whole(of(({ databaseCpu }) => databaseCpu)),
    ];
  };
  const head = ['', 'calls/s', 'p50 ms', 'p99 ms', 'server µs', 'PostgreSQL µs'];
  return table(head, Object.entries<string>(names).map(row), false);
}

export function ratioText({ ratio, lowest, highest }: ReturnType<typeof ratios>): string {
  return `${cell(ratio, 2)} × (${cell(lowest, 2)} to ${cell(highest, 2)})`;
}
