import { Command, InvalidArgumentError } from 'commander';
import type { RetentionOutcome } from '../../modules/audit/retention/run-retention.js';
import { completeConfig, loadConfig, type Config, type ServerSecrets } from '../../platform/config/config.js';
import { UnderWay } from '../../platform/database/transaction/plan.js';
import { withEnvironmentFile } from '../../start/environment-file.js';
import { onDatabaseOf, withDatabase } from '../database-address.js';
import { failureReason } from '../failure-reason.js';
import { DATABASE_DEFAULT, EXIT, NO_DATABASE, NO_LOG, commandOutput } from '../command-output.js';
import { counted } from '../verification/verification-report.js';

const { say, refuse } = commandOutput('audit sweep');

interface RetentionOptions {
  databaseUrl?: string;
  dryRun?: boolean;
  atOnce?: number;
  json?: boolean;
}

/** Archives and deletes now what the server would within the hour. */
export function auditSweepCommand(): Command {
  return new Command('sweep')
    .description('Archives and deletes what is older than AUDIT_RETENTION_DAYS. Exit codes: 0 done, 1 not all was swept, 2 no connection.')
    .option('--database-url <url>', `database to sweep; ${DATABASE_DEFAULT}`)
    .option('--dry-run', 'only say what would go first')
    .option('--at-once <entries>', 'how many entries are archived before they are deleted', positive)
    .option('--json', 'print one JSON object for each organization')
    .action(async (options: RetentionOptions) => {
      process.exitCode = await runRetention(options, withEnvironmentFile(process.env));
    });
}

async function runRetention({ databaseUrl, dryRun, atOnce, json }: RetentionOptions, env: NodeJS.ProcessEnv): Promise<number> {
  let failed = false;
  const report = (one: RetentionOutcome): void => {
    if ('failed' in one) {
      failed = true;
      say(`${one.organizationId}: ${failureReason(one.failed, NO_LOG)}`);
    } else process.stdout.write(json ? `${JSON.stringify(one)}\n` : said(one, dryRun === true));
  };
  try {
    const meant = withDatabase(env, databaseUrl);
    const config = loadConfig(meant);
    if (config.auditRetentionDays === undefined) return refuse('AUDIT_RETENTION_DAYS is not set: entries are kept', EXIT.REFUSED);
    const { runLogRetention } = await import('../../modules/audit/retention/run-retention.js');
    const secrets = await secretsOf(config);
    const swept = await onDatabaseOf(meant, (url) =>
      runLogRetention(
        completeConfig(config, { ...secrets, databaseUrl: url }), { isTrial: dryRun === true, ...(atOnce ? { atOnce } : {}) }, report,
      ));
    if (swept === undefined) return refuse(NO_DATABASE, EXIT.NO_CONNECTION);
    return failed ? EXIT.REFUSED : EXIT.WELL;
  } catch (error) {
    if (error instanceof UnderWay) return refuse('another process sweeps this database', EXIT.REFUSED);
    return refuse(failureReason(error, NO_LOG), error instanceof Error && 'code' in error ? EXIT.NO_CONNECTION : EXIT.REFUSED);
  }
}

/** Of the server's secrets retention needs the signing key alone. */
async function secretsOf(config: Config): Promise<ServerSecrets> {
  if (!config.embedded) return (await import('../../platform/config/config.js')).givenSecrets(config);
  return (await import('../../platform/embedded/secret-files.js')).embeddedSecrets(config, true);
}

function said({ organizationId, entries, chains, more }: Exclude<RetentionOutcome, { failed: Error }>, isTrial: boolean): string {
  const what = `${counted(entries, 'entry', 'entries')} of ${counted(chains, 'chain', 'chains')}`;
  const rest = more ? (isTrial ? ', then more' : '; there is more') : '';
  return `${organizationId}: ${isTrial ? 'would go first: ' : ''}${entries === 0 ? 'nothing to sweep' : what}${rest}\n`;
}

function positive(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('not a positive whole number');
  return value;
}
