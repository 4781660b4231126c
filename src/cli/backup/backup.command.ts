import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { serverVersion } from '../../platform/config/server-version.js';
import { StartRefused } from '../../platform/config/start-refused.js';
import { withEnvironmentFile } from '../../start/environment-file.js';
import {
  DATABASE_DEFAULT, EXIT, NEVER_SET_UP, NO_DATABASE, UsageError, commandOutput, progressBar, progressLine,
} from '../command-output.js';
import { onDatabaseOf, withDatabase } from '../database-address.js';
import { failureReason } from '../failure-reason.js';
import type { Sealing } from './file/age-file.js';
import type { Manifest } from './file/manifest.js';

const { say, refuse } = commandOutput('backup');

interface BackupOptions {
  out: string;
  recipient?: string[];
  passphraseFile?: string;
  databaseUrl?: string;
  json?: boolean;
}

/** Database and secrets of this moment as one encrypted file. */
export function backupCommand(): Command {
  return new Command('backup')
    .description('Writes database and secrets, as they are at one moment, to one file encrypted by age; servers go on meanwhile. '
      + 'Exit codes: 0 written, 1 refused, 2 wrong usage, or could not reach the database.')
    .requiredOption('--out <file>', 'file to write; one that is there already is not replaced')
    .option('--recipient <key>', 'public key of age that opens it, age1…; may be repeated',
      (key: string, before: string[] = []) => [...before, key])
    .option('--passphrase-file <file>', 'file with a passphrase that opens it, of 12 characters or more')
    .option('--database-url <url>', `database to read; ${DATABASE_DEFAULT}`)
    .option('--json', 'print one JSON object')
    .action(async (options: BackupOptions) => {
      process.exitCode = await backup(options, withEnvironmentFile(process.env));
    });
}

async function backup(options: BackupOptions, env: NodeJS.ProcessEnv): Promise<number> {
  const cut = new AbortController();
  const stop = () => cut.abort(new Error('interrupted; nothing was written'));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const out = resolve(options.out);
  const begun = performance.now();
  try {
    const [{ sealingFor }, { assertFree }] = await Promise.all([import('./file/age-file.js'), import('./whole-file.js')]);
    if (options.passphraseFile !== undefined && options.recipient !== undefined) {
      throw new UsageError('a file of age opens by keys or by one passphrase: give --recipient or --passphrase-file');
    }
    const sealing = sealingFor(options);
    assertFree(out);
    const meant = withDatabase(env, options.databaseUrl);
    const done = await onDatabaseOf(meant, (url) => write(url, { out, sealing, meant, signal: cut.signal }));
    if (done === undefined) return refuse(NO_DATABASE, EXIT.NO_CONNECTION);
    present(done.outcome, out, { seconds: (performance.now() - begun) / 1_000, json: options.json === true });
    return EXIT.WELL;
  } catch (error) {
    const reason = cut.signal.aborted ? cut.signal.reason as unknown : error;
    return refuse(failureReason(reason, NEVER_SET_UP), error instanceof StartRefused ? EXIT.REFUSED : EXIT.NO_CONNECTION);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

interface WriteOrder {
  readonly out: string;
  readonly sealing: Sealing;
  readonly meant: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

async function write(url: string, { out, sealing, meant, signal }: WriteOrder): Promise<Manifest> {
  const [{ openBackupSnapshot }, { backupContent }, { secretsOf }, { writeWhole }] = await Promise.all([
    import('./database/backup-snapshot.query.js'), import('./write-backup.js'), import('./installation-secrets.js'),
    import('./whole-file.js'),
  ]);
  const snapshot = await openBackupSnapshot(url);
  const progress = progressLine();
  try {
    const { instance, fingerprints } = snapshot.facts;
    const total = snapshot.tables.reduce((sum, { bytes }) => sum + bytes, 0);
    const content = backupContent({
      snapshot, sealing, secrets: secretsOf(meant, instance, fingerprints), version: serverVersion(),
      onBytes: (bytes) => progress.show(`${progressBar(total === 0 ? 0 : Math.min(0.99, bytes / total))}${megabytes(bytes)}`),
    });
    await writeWhole(out, content.bytes, signal);
    return content.manifest();
  } finally {
    progress.clear();
    await snapshot.close();
  }
}

function present(manifest: Manifest, file: string, { seconds, json }: { seconds: number; json: boolean }): void {
  const { instance, madeAt, tables, checkpoint } = manifest;
  const rows = tables.reduce((sum, one) => sum + one.rows, 0);
  const { size: bytes } = statSync(file);
  if (json) {
    const shown = { file, bytes, instance, madeAt, tables: tables.length, rows, checkpoint: checkpoint?.size ?? null };
    process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
    return;
  }
  say(`${rows.toLocaleString('en')} rows of ${tables.length} tables in ${seconds.toFixed(1)} s`);
  process.stdout.write([
    '', `  Backup of ${instance}, ${megabytes(bytes)}: ${file}`, '',
    '  It holds every secret of the installation, and opens by the key or passphrase that you gave alone: keep that elsewhere.',
    '  Not in it: anchors and archives, which are files of their own. Try it out: countersign restore --check', '', '',
  ].join('\n'));
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toLocaleString('en', { maximumFractionDigits: 1 })} MB`;
}
