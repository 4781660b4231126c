// A process that reads all tables by COPY, backs them up, or restores a backup, once, and says how long it took and in how much memory. In
// a process of its own, so that what one leaves behind is not counted to the other.
import { Decrypter } from 'age-encryption';
import { openBackupSnapshot } from '../../../src/cli/backup/database/backup-snapshot.query.js';
import { restoreBackup } from '../../../src/cli/backup/database/restore-backup.store.js';
import { decrypted, sealingFor } from '../../../src/cli/backup/file/age-file.js';
import { checkBackup, tableParts } from '../../../src/cli/backup/file/read-backup.js';
import { writeWhole } from '../../../src/cli/backup/whole-file.js';
import { backupContent } from '../../../src/cli/backup/write-backup.js';

export interface BackupStep {
  readonly side: 'copy' | 'backup' | 'restore';
  readonly databaseUrl: string;
  readonly file: string;
  /** Of `age`: the backup is for it, and opened by it. */
  readonly identity: string;
  readonly recipient: string;
}

export interface BackupStepDone {
  readonly bytes: number;
  readonly seconds: number;
  /** Bytes above what the process took before it began, at the highest. */
  readonly growth: number;
}

const SAMPLE_MS = 50;
/** Nobody compares them: what is measured ends before the log is verified. */
const SECRETS = { JWT_SECRET: 'none', ENCRYPTION_KEY: 'none', AUDIT_SIGNING_KEY: 'none' };

const WORK: Record<BackupStep['side'], (step: BackupStep) => Promise<number>> = {
  copy: async ({ databaseUrl }) => {
    const snapshot = await openBackupSnapshot(databaseUrl);
    let bytes = 0;
    for (const table of snapshot.tables) for await (const piece of snapshot.rowsOf(table)) bytes += piece.length;
    await snapshot.close();
    return bytes;
  },
  backup: async ({ databaseUrl, file, recipient }) => {
    const snapshot = await openBackupSnapshot(databaseUrl);
    let bytes = 0;
    const sealing = sealingFor({ recipient: [recipient] });
    const content = backupContent({ snapshot, sealing, secrets: SECRETS, version: 'bench', onBytes: (done) => (bytes = done) });
    await writeWhole(file, content.bytes, new AbortController().signal);
    await snapshot.close();
    return bytes;
  },
  restore: async ({ databaseUrl, file, identity }) => {
    const decrypter = new Decrypter();
    decrypter.addIdentity(identity);
    const open = () => decrypted(file, decrypter);
    const { manifest } = await checkBackup(open, () => undefined);
    let bytes = 0;
    await restoreBackup({
      url: databaseUrl, manifest, parts: () => tableParts(open), inspect: () => Promise.resolve(), onBytes: (done) => (bytes = done),
    });
    return bytes;
  },
};

const step = JSON.parse(process.env['BACKUP_STEP']!) as BackupStep;
const before = process.memoryUsage.rss();
let highest = before;
const sampling = setInterval(() => (highest = Math.max(highest, process.memoryUsage.rss())), SAMPLE_MS);
const begun = performance.now();
const bytes = await WORK[step.side](step);
clearInterval(sampling);
process.send!({ bytes, seconds: (performance.now() - begun) / 1_000, growth: highest - before } satisfies BackupStepDone);
