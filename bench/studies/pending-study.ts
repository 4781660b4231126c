// What asking a person costs, compared with doing: requests created a second, for each governed execution a second of the same server.
import { FIGURES } from '../figures.js';
import { median, type Phase, runPhase } from '../measure.js';
import { cell, table, whole } from '../report.js';
import type { Study, StudyContext } from '../study.js';

const PENDING = FIGURES.find(({ key }) => key === 'pending')!;
const AUTO = FIGURES.find(({ key }) => key === 'receipt')!;

/** One round: each for as long, one after the other. */
export interface Round {
  readonly pending: Phase;
  readonly auto: Phase;
  readonly bare?: Phase;
}

export type Side = keyof Round;

/** In turn; who begins changes with each round. The first is thrown away: nobody is measured cold. */
export async function rounds(context: StudyContext, sides: readonly Side[], count: number, done: () => void): Promise<Round[]> {
  const found: Round[] = [];
  for (let round = 0; round <= count; round++) {
    const phases: Partial<Record<Side, Phase>> = {};
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      phases[side] = await phaseOf(context, side);
      done();
    }
    if (round > 0) found.push(phases as Round);
  }
  return found;
}

async function phaseOf({ stage, tokens, load, options }: StudyContext, side: Side): Promise<Phase> {
  const figure = side === 'pending' ? PENDING : AUTO;
  return (await runPhase(stage, side === 'bare' ? 'bare' : 'governed', figure, tokens, load, options)).phase;
}

export const ratioOf = ({ pending, auto }: Round): number => pending.requestsPerSecond / auto.requestsPerSecond;

export const pendingStudy: Study = {
  key: 'pending',
  run: async (context) => {
    const { progress, options } = context;
    const count = Math.ceil(options.pairs / 2);
    progress.begin('A request that waits, beside an execution', 2 * (count + 1));
    const pairs = await rounds(context, ['pending', 'auto'], count, () => progress.step());
    const ratios = pairs.map(ratioOf);
    const rows = pairs.map((pair, i) => [String(i + 1), ...cells(pair)]);
    const of = (read: (pair: Round) => number) => median(pairs.map(read));
    const medians = [
      'median', whole(of(({ pending }) => pending.requestsPerSecond)), whole(of(({ auto }) => auto.requestsPerSecond)),
      cell(median(ratios), 2), cell(of(({ pending }) => pending.p99)), cell(of(({ auto }) => auto.p99)),
    ];
    const text = [
      '',
      `  A request that waits for a person: ${cell(median(ratios), 2)} × a governed auto execution ` +
        `(${cell(Math.min(...ratios), 2)} to ${cell(Math.max(...ratios), 2)})`,
      '',
      ...table(['pair', 'requests/s', 'executions/s', 'ratio', 'p99 ms', 'auto'], [...rows, medians]),
      '',
    ].join('\n');
    return { text, values: { figure: 'pending to auto', ratio: median(ratios), pairs } };
  },
};

function cells(pair: Round): string[] {
  const { pending, auto } = pair;
  return [whole(pending.requestsPerSecond), whole(auto.requestsPerSecond), cell(ratioOf(pair), 2), cell(pending.p99), cell(auto.p99)];
}
