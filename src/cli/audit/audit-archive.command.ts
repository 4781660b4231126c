import { resolve } from 'node:path';
import { Command } from 'commander';
import { readVerifierKey } from '../../domain/audit/notes/note.js';
import { checkoutRoot } from '../../platform/config/checkout-root.js';
import { loadConfig } from '../../platform/config/config.js';
import { withEnvironmentFile } from '../../start/environment-file.js';
import { archiveReport, type ArchiveOutcome } from '../verification/archive-report.js';
import { onDatabaseOf, withDatabase } from '../database-address.js';
import { failureReason } from '../failure-reason.js';
import { DATABASE_DEFAULT, EXIT, NO_LOG, commandOutput } from '../command-output.js';
import { verifierKeyOption } from '../verification/verifier-key-option.js';

const { refuse } = commandOutput('audit verify-archive');

interface VerifyArchiveOptions {
  databaseUrl?: string;
  alone?: boolean;
  verifierKey?: string[];
  json?: boolean;
}

/** Archives by themselves and, where there is a database, with the log that they were taken from. */
export function auditVerifyArchiveCommand(): Command {
  return new Command('verify-archive')
    .argument('[folder]', "of all archives, of one organization's, or of one sweep's; default: AUDIT_ARCHIVE")
    .description('Verifies what was swept, by itself and with the log. Exit codes: 0 as it was swept, 1 altered, 2 could not read.')
    .option('--database-url <url>', `database that it was swept from; ${DATABASE_DEFAULT}; without any, archives by themselves`)
    .option('--alone', 'archives by themselves, whatever database there is')
    .addOption(verifierKeyOption('what is'))
    .option('--json', 'print the outcome as JSON')
    .action(async (folder: string | undefined, options: VerifyArchiveOptions) => {
      process.exitCode = await verifyArchive(folder, options, withEnvironmentFile(process.env));
    });
}

async function verifyArchive(folder: string | undefined, options: VerifyArchiveOptions, env: NodeJS.ProcessEnv): Promise<number> {
  try {
    const meant = withDatabase(env, options.databaseUrl);
    const named = namedFolder(meant);
    const place = folder === undefined ? named : resolve(folder);
    if (place === undefined) return refuse('give a folder, or AUDIT_ARCHIVE', EXIT.NO_CONNECTION);
    const outcome = await outcomeOf(place, { ...options, isNamed: place === named }, meant);
    const { found: { archives, entries, values, breaks }, ...rest } = outcome;
    const shown = { ...rest, archives, entries, values, breaks, valid: breaks.length === 0 };
    process.stdout.write(options.json ? `${JSON.stringify(shown, null, 2)}\n` : archiveReport(outcome));
    return breaks.length === 0 ? EXIT.WELL : EXIT.REFUSED;
  } catch (error) {
    return refuse(failureReason(error, NO_LOG), EXIT.NO_CONNECTION);
  }
}

/** @throws Error where there is nothing to verify, or none of it is of that database */
async function outcomeOf(
  place: string, { alone, verifierKey = [], isNamed }: VerifyArchiveOptions & { readonly isNamed: boolean }, env: NodeJS.ProcessEnv,
): Promise<ArchiveOutcome> {
  const pinned = verifierKey.flatMap((text) => readVerifierKey(text) ?? []);
  const [{ archivesIn, LocatedArchives }, { verifyArchivesOf }, { verifyAlone }] = await Promise.all([
    import('../../modules/audit/retention/superseded/archive-folders.js'), import('../../modules/audit/retention/archives/verify-archives.js'),
    import('../../modules/audit/retention/superseded/verify-alone.js'),
  ]);
  const { covers, archives } = await archivesIn(place);
  const [organizations, sweeps] = [archives.map((one) => one.organizationId), archives.map((one) => one.sweepId)];
  const isMeant = (sweep: { organizationId: string; id: string }) =>
    covers === 'all' || (covers === 'organization' ? organizations.includes(sweep.organizationId) : sweeps.includes(sweep.id));
  const withLog = alone ? undefined
    : await onDatabaseOf(env, (url) => verifyArchivesOf(url, new LocatedArchives(archives), { isMeant, pinned }));
  if (withLog) {
    const { outcome: found } = withLog;
    const unrecorded = sweeps.filter((id) => !found.sweeps.includes(id));
    // Where archives will be once something was swept, none is what there should be; anywhere else it is not the folder that was meant.
    if (archives.length === 0 && found.sweeps.length === 0 && !isNamed) throw new Error(noArchive(place));
    if (unrecorded.length > 0 && found.archives === 0) throw new Error(otherLog(unrecorded));
    return { covers, withLog: true, unrecorded: unrecorded.length, keys: verifierKey, pinned: pinned.length > 0, found };
  }
  if (archives.length === 0) throw new Error(noArchive(place));
  const found = await verifyAlone({ covers, archives }, pinned);
  return { covers, withLog: false, unrecorded: 0, keys: found.keys, pinned: pinned.length > 0, found };
}

function noArchive(place: string): string {
  return `there is no archive in ${place}: give the folder of all archives, of one organization's, or of one sweep's`;
}

function otherLog([first, ...more]: readonly string[]): string {
  const which = more.length === 0 ? `the sweep ${first}` : `any of these ${more.length + 1} sweeps`;
  return `this database has not recorded ${which}: give the one that it was swept from, or --alone to compare with none`;
}

/** Whatever folder a command is run in, it means the same one as the server. */
function namedFolder(env: NodeJS.ProcessEnv): string | undefined {
  const { auditArchive } = loadConfig(env);
  return auditArchive === undefined ? undefined : resolve(checkoutRoot(), auditArchive);
}
