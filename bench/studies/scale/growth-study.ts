// What a long log changes: receipt-only executions beside a bare insert, on an almost empty log and beside millions of entries.
import { FIGURES } from '../../figures.js';
import type { Goal } from '../../goals.js';
import { median, type Phase, runPhase } from '../../measure.js';
import { cell, table, whole } from '../../report.js';
import type { Study, StudyContext } from '../../study.js';
import { fillLog } from '../fill-log.js';

const RECEIPT = FIGURES.find(({ key }) => key === 'receipt')!;

interface Pair {
  readonly governed: Phase;
  readonly bare: Phase;
}

const ratioOf = ({ governed, bare }: Pair) => governed.requestsPerSecond / bare.requestsPerSecond;

/** Bare inserts tell of either time what the machine could do. */
export const growthStudy: Study = {
  key: 'growth',
  onlyWhenNamed: true,
  run: async (context) => {
    const { stage, options, progress } = context;
    const empty = await pairs(context, 'beside an empty log');
    progress.begin(`writing ${whole(options.entries)} entries`, 1);
    await fillLog(stage, options, (share) => progress.to(share));
    await stage.checkpoint();
    const grown = await pairs(context, `beside ${whole(options.entries)} entries`);
    const share = median(grown.map(ratioOf)) / median(empty.map(ratioOf));
    const goal: Goal = { what: `receipt beside ${whole(options.entries)} entries to an empty log`, value: share, wanted: 0.9 };
    const text = [
      '', `  Receipt-only executions beside ${whole(options.entries)} entries: ${cell(share, 2)} × those beside an empty log`, '',
      ...table(['log', 'governed/s', 'bare/s', 'ratio', 'p99 ms', 'server µs', 'PostgreSQL µs'], [
        rowOf('empty', empty), rowOf('grown', grown)], false), '',
    ].join('\n');
    return { text, values: { figure: 'growth', entries: options.entries, empty, grown }, goals: [goal] };
  },
};

async function pairs({ stage, tokens, load, options, progress }: StudyContext, when: string): Promise<Pair[]> {
  const found: Pair[] = [];
  const count = Math.ceil(options.pairs / 2);
  progress.begin(`Receipt-only ${when}`, count + 1);
  for (let pair = 0; pair <= count; pair++) {
    const phases: Partial<Record<keyof Pair, Phase>> = {};
    const sides = ['governed', 'bare'] as const;
    for (const side of pair % 2 === 0 ? sides : sides.toReversed()) {
      phases[side] = (await runPhase(stage, side, RECEIPT, tokens, load, options)).phase;
    }
    // Nobody is measured cold.
    if (pair > 0) found.push(phases as Pair);
    progress.step();
  }
  return found;
}

function rowOf(log: string, found: readonly Pair[]): string[] {
  const of = (read: (pair: Pair) => number) => median(found.map(read));
  return [
    log, whole(of(({ governed }) => governed.requestsPerSecond)), whole(of(({ bare }) => bare.requestsPerSecond)),
    cell(of(ratioOf), 2), cell(of(({ governed }) => governed.p99)), whole(of(({ governed }) => governed.serverCpu)),
    whole(of(({ governed }) => governed.databaseCpu)),
  ];
}
