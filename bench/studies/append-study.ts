// What the tamper-evident append costs, as a share of a bare multi-row insert of the same rows by the same driver.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Appended, AppendOrder, AppendSetting } from './append-worker.js';
import { fillLog } from './fill-log.js';
import { median } from '../measure.js';
import { cell, table, whole } from '../report.js';
import type { Goal } from '../goals.js';
import type { Study } from '../study.js';

const PROCESSES = 2;
const BATCH = 64;
const SIDES = ['many', 'bare', 'hot'] as const;

type Side = (typeof SIDES)[number];
type Round = Readonly<Record<Side, number>>;

/**
 * Rows a second of two processes: by the engine over all agents and over one, beside millions of entries and with every index; and
 * into a twin of the table without any. In turn, and who begins changes; the first round is thrown away.
 */
export const appendStudy: Study = {
  key: 'append',
  onlyWhenNamed: true,
  run: async ({ stage, options, progress }) => {
    progress.begin(`writing ${whole(options.entries)} entries`, 1);
    const { organizations: [own] } = await fillLog(stage, options, (share) => progress.to(share));
    await stage.database.query('create table bench_entries (like audit_entries) with (toast_tuple_target = 4080)');
    const setting: AppendSetting = { databaseUrl: stage.databaseUrl, organizationId: own!.id, agents: own!.agents, batch: BATCH };
    const workers = await Promise.all(Array.from({ length: PROCESSES }, () => startWorker(setting)));
    try {
      const rounds: Round[] = [];
      const count = Math.ceil(options.pairs / 2);
      progress.begin('appending', (count + 1) * SIDES.length);
      for (let round = 0; round <= count; round++) {
        const rates: Partial<Record<Side, number>> = {};
        for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
          if (side === 'bare') await stage.database.query('truncate bench_entries');
          rates[side] = await rateOf(workers, { side, seconds: options.seconds });
          progress.step(`${side} ${whole(rates[side])} rows/s`);
        }
        if (round > 0) rounds.push(rates as Round);
      }
      const goal: Goal = { what: 'append to bare inserts', value: median(rounds.map(({ many, bare }) => many / bare)), wanted: 0.3 };
      return { text: textOf(options.entries, rounds), values: { figure: 'append', entries: options.entries, rounds }, goals: [goal] };
    } finally {
      for (const worker of workers) worker.kill();
      await stage.database.query('drop table bench_entries');
    }
  },
};

async function startWorker(setting: AppendSetting): Promise<ChildProcess> {
  const worker = fork(fileURLToPath(new URL('append-worker.js', import.meta.url)), {
    env: { ...process.env, APPEND_SETTING: JSON.stringify(setting) },
    execArgv: ['--import', new URL('../end-with-parent.js', import.meta.url).href, '--max-semi-space-size=32'],
  });
  await answerOf(worker);
  return worker;
}

async function rateOf(workers: readonly ChildProcess[], order: AppendOrder): Promise<number> {
  const answers = workers.map((worker) => answerOf<Appended>(worker));
  for (const worker of workers) worker.send(order);
  const appended = await Promise.all(answers);
  return appended.reduce((sum, { rows, seconds }) => sum + rows / seconds, 0);
}

/** @throws Error where the process ends instead */
function answerOf<Answer>(worker: ChildProcess): Promise<Answer> {
  return new Promise((answered, failed) => {
    const onExit = (code: number | null) => failed(new Error(`append: a process ended with ${String(code)}`));
    worker.once('exit', onExit);
    worker.once('message', (answer) => {
      worker.off('exit', onExit);
      answered(answer as Answer);
    });
  });
}

function textOf(entries: number, rounds: readonly Round[]): string {
  const share = ({ many, bare }: Round) => (100 * many) / bare;
  const hotShare = ({ hot, many }: Round) => (100 * hot) / many;
  const rows = rounds.map((round, i) => [String(i + 1), ...cells(round)]);
  const of = (side: Side) => median(rounds.map((round) => round[side]));
  const shares = rounds.map(share);
  const medians = [
    'median', whole(of('many')), whole(of('bare')), cell(median(shares)), whole(of('hot')), cell(median(rounds.map(hotShare))),
  ];
  return [
    '',
    `  Append beside ${whole(entries)} entries, ${PROCESSES} processes, batches of ${BATCH}: ${cell(median(shares))} % of a bare insert ` +
      `(${cell(Math.min(...shares))} to ${cell(Math.max(...shares))}); one agent alone: ${cell(median(rounds.map(hotShare)))} % of many`,
    '',
    ...table(['round', 'many agents, rows/s', 'bare', '% of bare', 'one agent', '% of many'], [...rows, medians]),
    '',
  ].join('\n');
}

function cells(round: Round): string[] {
  const { many, bare, hot } = round;
  return [whole(many), whole(bare), cell((100 * many) / bare), whole(hot), cell((100 * hot) / many)];
}
