import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { StartRefused } from '../../platform/config/start-refused.js';
import { withEnvironmentFile } from '../../start/environment-file.js';
import { EXIT, NEVER_SET_UP, commandOutput, progressBar, progressLine } from '../command-output.js';
import { withDatabase } from '../database-address.js';
import { failureReason } from '../failure-reason.js';
import { counted } from '../verification/verification-report.js';
import { verifierKeyOption } from '../verification/verifier-key-option.js';
import { megabytes } from './backup.command.js';
import type { Restored } from './restore-from-file.js';

const { refuse } = commandOutput('restore');

interface RestoreOptions {
  identityFile?: string;
  passphraseFile?: string;
  databaseUrl?: string;
  secretsOut?: string;
  verifierKey?: string[];
  evenTampered?: boolean;
  check?: boolean;
  json?: boolean;
}

interface Destination {
  readonly into: string | null;
  readonly secretsIn?: string;
}

export function restoreCommand(): Command {
  return new Command('restore')
    .description('Brings a backup into an empty database or data directory, verifies the audit log, and keeps it from serving until '
      + 'countersign recover. Exit codes: 0 restored, 1 refused and nothing changed, 2 wrong usage, or could not reach the database.')
    .argument('<file>', 'the backup')
    .option('--identity-file <file>', 'the key of age that opens it, as age-keygen writes it')
    .option('--passphrase-file <file>', 'file with the passphrase that opens it')
    .option('--database-url <url>', 'empty database to restore into; default: DATABASE_URL, else a new embedded one in DATA_DIR')
    .option('--secrets-out <file>', 'writes the secrets to a new environment file; needed for a database whose secrets are not set here')
    .addOption(verifierKeyOption('checkpoints'))
    .option('--even-tampered', 'restores a backup whose audit log was tampered with, for whoever looks into it')
    .addOption(new Option('--check', 'only reads the backup to its end, and says whether it is whole')
      .conflicts(['secretsOut', 'databaseUrl']))
    .option('--json', 'print one JSON object')
    .action(async (file: string, options: RestoreOptions) => {
      process.exitCode = await restore(resolve(file), options, withEnvironmentFile(process.env));
    });
}

async function restore(file: string, options: RestoreOptions, env: NodeJS.ProcessEnv): Promise<number> {
  const cut = new AbortController();
  const stop = () => cut.abort(new StartRefused('interrupted; nothing was restored'));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const progress = progressLine();
  try {
    const [{ decrypterBy }, { restoreFromFile }, { targetOf }] = await Promise.all([
      import('./file/age-file.js'), import('./restore-from-file.js'), import('./restore-target.js'),
    ]);
    const decrypter = decrypterBy(options);
    const target = options.check ? undefined : targetOf(withDatabase(env, options.databaseUrl), options.secretsOut);
    const restored = await restoreFromFile({
      file, decrypter, target, signal: cut.signal, verifierKeys: options.verifierKey ?? [], evenTampered: options.evenTampered === true,
      onProgress: (step, done, total) => progress.show(`${step.padEnd(10)} ${progressBar(total > 0 ? done / total : 1)}${
        step === 'verifying' ? counted(done, 'entry', 'entries') : megabytes(done)}`),
    }).finally(progress.clear);
    const destination = { into: target?.into ?? null, ...(options.secretsOut ? { secretsIn: resolve(options.secretsOut) } : {}) };
    process.stdout.write(options.json ? `${JSON.stringify(members(restored, destination), null, 2)}\n` : report(restored, destination));
    return EXIT.WELL;
  } catch (error) {
    const reason = cut.signal.aborted ? cut.signal.reason as unknown : error;
    return refuse(failureReason(reason, NEVER_SET_UP), isRefusal(reason) ? EXIT.REFUSED : EXIT.NO_CONNECTION);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

/** What the database itself says against it (a full disk, rows that do not fit) is a refusal, too; that it is not there is none. */
function isRefusal(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return error instanceof StartRefused || (typeof code === 'string' && /^(2[0-9A-Z]|42|5[34])\w{3}$/.test(code) && !/^28/.test(code));
}

function members({ manifest, log }: Restored, { into, secretsIn }: Destination): object {
  const { instance, madeAt, version, tables, checkpoint } = manifest;
  const rows = tables.reduce((sum, one) => sum + one.rows, 0);
  return {
    restored: log !== undefined, into, instance, madeAt, version, tables: tables.length, rows, checkpoint: checkpoint?.size ?? null,
    ...(log ? { verdict: log.verdict, entries: log.entries, breaksFound: log.breaksFound, held: true } : {}),
    ...(secretsIn === undefined ? {} : { secretsIn }),
  };
}

function report({ manifest: { instance, madeAt, tables }, log }: Restored, { into, secretsIn }: Destination): string {
  const rows = `${counted(tables.reduce((sum, one) => sum + one.rows, 0), 'row', 'rows')} of ${tables.length} tables`;
  if (log === undefined) return `\n  The backup of ${instance}, made at ${madeAt}, is whole: ${rows}. Nothing was restored.\n\n`;
  const verdict = log.valid ? 'as it was written'
    : `tampered with: ${counted(log.breaksFound, 'break', 'breaks')} (countersign audit verify)`;
  return [
    '', `  ${instance} is back as it was at ${madeAt}: ${rows}, in ${into}.`,
    `  The audit log is ${verdict}: ${counted(log.entries, 'entry', 'entries')} in ${counted(log.chains, 'chain', 'chains')}.`,
    ...secretsIn === undefined ? [] : [`  The secrets are in ${secretsIn}: give them to the servers.`], '',
    '  It serves nobody yet: what happened after the backup is missing, so what it holds for valid may have been taken back since.',
    '  countersign recover                 shows what would be ended',
    '  countersign recover --accept-loss   ends it and puts the database into service', '', '',
  ].join('\n');
}
