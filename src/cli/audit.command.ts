import { Command } from 'commander';
import { judgesOf } from '../modules/audit/judging/judges.js';
import { verification, type Verification } from '../modules/audit/verification.js';
import { grantRecords } from '../modules/capabilities/grant-records.query.js';
import { executionRecords } from '../modules/executions/execution-records.query.js';
import { requestRecords } from '../modules/hitl/hitl-records.query.js';
import { withEnvironmentFile } from '../start/environment-file.js';
import { exportCommand } from './audit-export.command.js';
import { auditVerifyArchiveCommand } from './audit-archive.command.js';
import { auditSweepCommand } from './audit-sweep.command.js';
import { databaseOf } from './database-address.js';
import { readingLog } from './log-connection.query.js';
import { reason } from './reason.js';
import { rotateSigningKeyCommand } from './rotate-signing-key.command.js';
import { counted, verificationReport } from './verification-report.js';

const WELL = 0;
const TAMPERED = 1;
const NO_CONNECTION = 2;

const NO_DATABASE = 'no database: give --database-url or DATABASE_URL, or start the server of this data directory first';

/** Those that modules register in a server. */
const KEEPERS = [executionRecords, requestRecords, grantRecords];

interface VerifyOptions {
  databaseUrl?: string;
  agent?: string;
  json?: boolean;
}

/** Commands over the audit log. */
export function auditCommand(): Command {
  const audit = new Command('audit').description('Looks after the audit log.');
  audit
    .command('verify')
    .description('Verifies every entry, every chain and the tree. Exit codes: 0 as written, 1 tampered with, 2 could not read.')
    .option('--database-url <url>', 'database to read; default: DATABASE_URL, else the running embedded database of DATA_DIR')
    .option('--agent <id>', "verify only this agent's chain")
    .option('--json', 'print the outcome as JSON')
    .action(async (options: VerifyOptions) => {
      process.exitCode = await verify(options, withEnvironmentFile(process.env));
    });
  audit.addCommand(exportCommand());
  audit.addCommand(rotateSigningKeyCommand());
  audit.addCommand(auditSweepCommand());
  audit.addCommand(auditVerifyArchiveCommand());
  return audit;
}

async function verify({ databaseUrl, agent, json }: VerifyOptions, env: NodeJS.ProcessEnv): Promise<number> {
  const progress = progressLine();
  let outcome: Verification;
  try {
    const url = databaseUrl ?? databaseOf(env);
    if (url === undefined) return refuse(NO_DATABASE);
    outcome = await readingLog(url, async (source, run) => {
      const judges = await judgesOf(run, source, KEEPERS, { organizations: 'all', agentId: agent });
      return verification(source, agent, progress.show, judges);
    });
  } catch (error) {
    return refuse(reason(error, 'this database holds no audit log'));
  } finally {
    progress.clear();
  }
  if (agent !== undefined && outcome.chains === 0) return refuse(`there is no entry of an agent ${agent}`);
  process.stdout.write(json ? `${JSON.stringify(told(outcome), null, 2)}\n` : verificationReport(outcome, process.stdout.isTTY));
  return outcome.valid ? WELL : TAMPERED;
}

function told({ judged, ...rest }: Verification): object {
  return { ...rest, ...judged };
}

function refuse(why: string): number {
  process.stderr.write(`countersign audit verify: ${why}\n`);
  return NO_CONNECTION;
}

/** Counts on one line while a person watches; silent in a pipe. */
function progressLine(): { show: (entries: number) => void; clear: () => void } {
  const { stderr } = process;
  if (!stderr.isTTY) return { show: () => undefined, clear: () => undefined };
  return {
    show: (entries) => void stderr.write(`\r\u001b[2K  reading … ${counted(entries, 'entry', 'entries')}`),
    clear: () => void stderr.write('\r\u001b[2K'),
  };
}
