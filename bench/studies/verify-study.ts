// How fast the log is verified, trees and all, as a share of merely reading the same rows by the same driver on as many threads.
import { fork } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { fillLog } from './fill-log.js';
import { median } from '../measure.js';
import { cell, table, whole } from '../report.js';
import type { Stage } from '../stage.js';
import type { Study } from '../study.js';
import type { VerifiedOnce, VerifyOrder } from './verify-worker.js';

type Round = Readonly<Record<VerifyOrder['side'], VerifiedOnce>>;

const SIDES = ['read', 'verify'] as const;
const MEGABYTE = 1024 * 1024;

/** In turn, and who begins changes; the first round, which fills caches, is thrown away. */
export const verifyStudy: Study = {
  key: 'verify',
  onlyWhenNamed: true,
  run: async ({ stage, options, progress }) => {
    progress.begin(`writing ${whole(options.entries)} entries`, 1);
    await fillLog(stage, { entries: options.entries, organizations: 1 }, (share) => progress.to(share));
    progress.begin('growing the trees', 1);
    await integrated(stage);
    const rounds: Round[] = [];
    const count = Math.ceil(options.pairs / 3);
    progress.begin('verifying', (count + 1) * SIDES.length);
    for (let round = 0; round <= count; round++) {
      const bySide: Partial<Record<VerifyOrder['side'], VerifiedOnce>> = {};
      for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
        const once = await run({ side, databaseUrl: stage.databaseUrl });
        bySide[side] = once;
        progress.step(`${side} ${whole(once.entries / once.seconds)} entries/s`);
      }
      if (round > 0) rounds.push(bySide as Round);
    }
    return { text: textOf(rounds), values: { figure: 'verify', entries: options.entries, rounds } };
  },
};

/** Until the leader has taken every leaf into its tree. */
async function integrated({ database }: Stage): Promise<void> {
  for (;;) {
    const { rows } = await database.query<{ left: boolean }>('select exists (select from audit_tree_queue) as left');
    if (!rows[0]!.left) break;
    await delay(500);
  }
  await database.query('vacuum (analyze) audit_tree_queue');
  await database.query('vacuum (analyze) audit_tree_leaves');
}

/** @throws Error where the process ends without an answer */
function run(order: VerifyOrder): Promise<VerifiedOnce> {
  return new Promise((done, failed) => {
    const worker = fork(fileURLToPath(new URL('verify-worker.js', import.meta.url)), {
      env: { ...process.env, VERIFY_ORDER: JSON.stringify(order) },
      execArgv: ['--import', new URL('../end-with-parent.js', import.meta.url).href],
    });
    worker.once('exit', (code) => failed(new Error(`verify: a process ended with ${String(code)}`)));
    worker.once('message', (once) => {
      worker.removeAllListeners('exit');
      worker.kill();
      done(once as VerifiedOnce);
    });
  });
}

function textOf(rounds: readonly Round[]): string {
  const rate = ({ entries, seconds }: VerifiedOnce) => entries / seconds;
  const shares = rounds.map(({ read, verify }) => (100 * rate(verify)) / rate(read));
  const rows = rounds.map(({ read, verify }, n) => [
    String(n + 1), whole(rate(read)), whole(rate(verify)), cell(shares[n]!), whole(verify.growth / MEGABYTE), verify.verdict ?? '',
  ]);
  const growth = Math.max(...rounds.map(({ verify }) => verify.growth)) / MEGABYTE;
  return [
    '',
    `  Verification of ${whole(rounds[0]!.verify.entries)} entries on two threads: ${cell(median(shares))} % of the rate of ` +
      `merely reading them (${cell(Math.min(...shares))} to ${cell(Math.max(...shares))}); memory grew by ${whole(growth)} MB at most`,
    '',
    ...table(['round', 'read, entries/s', 'verify', '% of reading', 'memory, MB', 'verdict'], rows),
    '',
  ].join('\n');
}
