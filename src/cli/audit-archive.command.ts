import { Command } from 'commander';
import { loadConfig } from '../platform/config/config.js';
import { withEnvironmentFile } from '../start/environment-file.js';
import { onDatabaseOf, withDatabase } from './database-address.js';
import { reason } from './reason.js';
import { DATABASE_DEFAULT, EXIT, NO_DATABASE, NO_LOG, speaking } from './speaking.js';
import { counted } from './verification-report.js';

const { refuse } = speaking('audit verify-archive');

interface VerifyArchiveOptions {
  databaseUrl?: string;
  json?: boolean;
}

/** Archives with the log that they were taken from. */
export function auditVerifyArchiveCommand(): Command {
  return new Command('verify-archive')
    .argument('[folder]', 'where the archives are; default: AUDIT_ARCHIVE')
    .description('Verifies what was swept, by itself and with the log. Exit codes: 0 as it was swept, 1 altered, 2 could not read.')
    .option('--database-url <url>', `database that it was swept from; ${DATABASE_DEFAULT}`)
    .option('--json', 'print the outcome as JSON')
    .action(async (folder: string | undefined, options: VerifyArchiveOptions) => {
      process.exitCode = await verifyArchive(folder, options, withEnvironmentFile(process.env));
    });
}

async function verifyArchive(
  folder: string | undefined, { databaseUrl, json }: VerifyArchiveOptions, env: NodeJS.ProcessEnv,
): Promise<number> {
  try {
    const meant = withDatabase(env, databaseUrl);
    const auditArchive = folder ?? loadConfig(meant).auditArchive;
    if (auditArchive === undefined) return refuse('give a folder, or AUDIT_ARCHIVE', EXIT.NO_CONNECTION);
    const [{ archiveOf }, { verifyArchivesOf }] = await Promise.all([
      import('../modules/audit/sweeps/archive.directory.js'), import('../modules/audit/sweeps/verify-archives.js'),
    ]);
    const verified = await onDatabaseOf(meant, (url) => verifyArchivesOf(url, archiveOf({ auditArchive })));
    if (verified === undefined) return refuse(NO_DATABASE, EXIT.NO_CONNECTION);
    const { archives, entries, breaks } = verified.outcome;
    const what = `${counted(archives, 'archive', 'archives')}, ${counted(entries, 'entry', 'entries')}`;
    const lines = [
      `${breaks.length === 0 ? 'AS IT WAS SWEPT' : 'ALTERED'}: ${what}.`,
      ...breaks.map(({ kind, organizationId, sweepId, detail }) => `  ${kind}: ${organizationId}/${sweepId}: ${detail}`),
    ];
    const text = json ? JSON.stringify({ ...verified.outcome, valid: breaks.length === 0 }, null, 2) : lines.join('\n');
    process.stdout.write(`${text}\n`);
    return breaks.length === 0 ? EXIT.WELL : EXIT.REFUSED;
  } catch (error) {
    return refuse(reason(error, NO_LOG), EXIT.NO_CONNECTION);
  }
}
