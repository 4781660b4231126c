// How fast a backup is written, encrypted, and restored (but for its verification, which `verify` measures), beside merely reading the same
// tables by COPY.
import { fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { removeDataDirectory } from '../../../src/platform/embedded/cluster.js';
import { startEmbeddedPostgres } from '../../../src/platform/embedded/supervisor.js';
import { median } from '../../measure.js';
import { cell, table, whole } from '../../report.js';
import type { Study } from '../../study.js';
import { fillLog } from '../fill-log.js';
import type { BackupStep, BackupStepDone } from './backup-worker.js';

type Round = Readonly<Record<BackupStep['side'], BackupStepDone>>;

const MEGABYTE = 1_000_000;

/** The first round, which fills caches, is thrown away. */
export const backupStudy: Study = {
  key: 'backup',
  onlyWhenNamed: true,
  run: async ({ stage, options, workFolder, progress }) => {
    progress.begin(`writing ${whole(options.entries)} entries`, 1);
    await fillLog(stage, { entries: options.entries, organizations: 1 }, (share) => progress.to(share));
    const identity = await generateIdentity();
    const file = join(workFolder, 'backup.age');
    const shared = { file, identity, recipient: await identityToRecipient(identity) };
    const rounds: Round[] = [];
    const count = Math.ceil(options.pairs / 3);
    progress.begin('backing up and restoring', (count + 1) * 3);
    for (let round = 0; round <= count; round++) {
      const copy = await run({ ...shared, side: 'copy', databaseUrl: stage.databaseUrl });
      progress.step(`copy ${rate(copy)} MB/s`);
      const backup = await run({ ...shared, side: 'backup', databaseUrl: stage.databaseUrl });
      progress.step(`backup ${rate(backup)} MB/s`);
      const restore = await restoredInto(join(workFolder, 'restored'), shared, options.settings);
      progress.step(`restore ${rate(restore)} MB/s`);
      rmSync(file);
      if (round > 0) rounds.push({ copy, backup, restore });
    }
    return { text: textOf(rounds), values: { figure: 'backup', entries: options.entries, rounds } };
  },
};

/** Into a PostgreSQL of its own, with the same settings. */
async function restoredInto(
  dataDir: string, shared: Omit<BackupStep, 'side' | 'databaseUrl'>, settings: Readonly<Record<string, string>>,
): Promise<BackupStepDone> {
  const database = await startEmbeddedPostgres({ dataDir, settings });
  try {
    return await run({ ...shared, side: 'restore', databaseUrl: database.url });
  } finally {
    await database.stop();
    removeDataDirectory(dataDir);
  }
}

/** @throws Error where the process ends without an answer */
function run(step: BackupStep): Promise<BackupStepDone> {
  return new Promise((done, failed) => {
    const worker = fork(fileURLToPath(new URL('backup-worker.js', import.meta.url)), {
      env: { ...process.env, BACKUP_STEP: JSON.stringify(step) },
      execArgv: ['--import', new URL('../../end-with-parent.js', import.meta.url).href],
    });
    worker.once('exit', (code) => failed(new Error(`backup: a process ended with ${String(code)}`)));
    worker.once('message', (once) => {
      worker.removeAllListeners('exit');
      worker.kill();
      done(once as BackupStepDone);
    });
  });
}

const rate = ({ bytes, seconds }: BackupStepDone) => cell(bytes / MEGABYTE / seconds);

function textOf(rounds: readonly Round[]): string {
  const share = (side: 'backup' | 'restore') => rounds.map((round) => round.copy.seconds / round[side].seconds);
  const growth = (side: 'backup' | 'restore') => whole(Math.max(...rounds.map((round) => round[side].growth)) / MEGABYTE);
  const said = (side: 'backup' | 'restore') => `${cell(median(share(side)))} × (${cell(Math.min(...share(side)))} to ${
    cell(Math.max(...share(side)))}), memory grew by ${growth(side)} MB at most`;
  return [
    '',
    `  Backup of ${whole(rounds[0]!.copy.bytes / MEGABYTE)} MB of rows, beside merely reading them by COPY: ${said('backup')}`,
    `  Restore without its verification, beside the same: ${said('restore')}`,
    '',
    ...table(['round', 'copy, MB/s', 'backup', 'restore'],
      rounds.map(({ copy, backup, restore }, n) => [String(n + 1), rate(copy), rate(backup), rate(restore)])),
    '',
  ].join('\n');
}
