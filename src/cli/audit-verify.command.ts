import { Command, Option } from 'commander';
import type { Verification } from '../modules/audit/verification.js';
import { withEnvironmentFile } from '../start/environment-file.js';
import { databaseOf } from './database-address.js';
import { reason } from './reason.js';
import { defaultRemembered, NOTHING_REMEMBERED, readRemembered, remember } from './remembered-checkpoints.js';
import { counted, verificationReport } from './verification-report.js';
import type { VerifyFrom } from './verify-from.js';

const WELL = 0;
const TAMPERED = 1;
const NO_CONNECTION = 2;

const NO_DATABASE = 'no database: give --database-url or DATABASE_URL, or start the server of this data directory first';

interface VerifyOptions {
  databaseUrl?: string;
  url?: string;
  key?: string;
  file?: string;
  verifierKey?: string[];
  agent?: string;
  integrity?: boolean;
  newer?: boolean;
  remember: string | boolean;
  json?: boolean;
}

/** `audit verify`: of a database, a server's export or a file. */
export function auditVerifyCommand(): Command {
  return new Command('verify')
    .description('Verifies every entry, every chain and the trees. Exit codes: 0 as written, 1 tampered with, 2 could not read.')
    .option('--database-url <url>', 'database to read; default: DATABASE_URL, else the running embedded database of DATA_DIR')
    .addOption(
      new Option('--url <url>', 'server whose export is read and verified here').env('COUNTERSIGN_URL').conflicts(['databaseUrl', 'file']),
    )
    .addOption(new Option('--key <key>', 'API key for the server').env('COUNTERSIGN_KEY'))
    .addOption(new Option('--file <file>', 'export to verify, .jsonl or .jsonl.gz').conflicts('databaseUrl'))
    .option('--verifier-key <key...>', 'only believe checkpoints signed by this key (GET /audit/keys)')
    .option('--agent <id>', "verify only this agent's chain")
    .option('--integrity', 'whether the log is as written; not whether rows agree with it, nor whether the gate was right')
    .option('--newer', 'of a database: read only what has come since it was last read, and remembered; older entries are not read again')
    .option('--remember <file>', 'where newest checkpoints are kept, and looked for the next time', defaultRemembered())
    .option('--no-remember', 'compare with no earlier checkpoint, and keep none')
    .option('--json', 'print the outcome as JSON')
    .action(async (options: VerifyOptions) => {
      process.exitCode = await verify(options, withEnvironmentFile(process.env));
    });
}

async function verify(options: VerifyOptions, env: NodeJS.ProcessEnv): Promise<number> {
  const { agent, json } = options;
  const unfit = whyNotNewer(options);
  if (unfit !== undefined) return refuse(unfit);
  const progress = progressBar();
  let outcome: Verification;
  const file = typeof options.remember === 'string' ? options.remember : undefined;
  try {
    const { notes, readUpTo } = file === undefined ? NOTHING_REMEMBERED : readRemembered(file);
    const how: VerifyFrom = {
      remembered: notes,
      remembers: file !== undefined,
      ...(options.newer ? { since: readUpTo } : {}),
      verifierKeys: options.verifierKey ?? [],
      integrityOnly: options.integrity ?? false,
      onProgress: progress.show,
      ...(agent === undefined ? {} : { agentId: agent }),
    };
    const given = options.databaseUrl === undefined;
    // Loaded when a log is verified: what reads and judges it takes longer to load than any other command to do its work.
    const { fromDatabase, fromFile, fromServer } = await import('./verify-from.js');
    if (options.file !== undefined) outcome = await fromFile(options.file, how);
    else if (given && options.url !== undefined) outcome = await fromServer(options.url, options.key, how);
    else {
      const url = options.databaseUrl ?? databaseOf(env);
      if (url === undefined) return refuse(NO_DATABASE);
      outcome = await fromDatabase(url, env, how);
    }
    // What was found wrong is nothing to compare with the next time.
    if (file !== undefined && outcome.valid) remember(file, outcome);
  } catch (error) {
    return refuse(reason(error, 'this database holds no audit log'));
  } finally {
    progress.clear();
  }
  if (agent !== undefined && outcome.chains === 0) return refuse(`there is no entry of an agent ${agent}`);
  const { notes: _notes, readUpTo: _readUpTo, members, ...shown } = outcome;
  process.stdout.write(json ? `${JSON.stringify({ ...shown, ...members }, null, 2)}\n` : verificationReport(outcome, process.stdout.isTTY));
  return outcome.valid ? WELL : TAMPERED;
}

/** What is newer can be judged of a database, by one who remembers the rest, and of all chains together. */
function whyNotNewer({ newer, file, url, databaseUrl, agent, remember: remembered }: VerifyOptions): string | undefined {
  if (!newer) return undefined;
  if (file !== undefined) return '--newer reads a database: a file is verified whole; leave --newer out';
  if (url !== undefined && databaseUrl === undefined) {
    return "--newer reads a database: give --database-url; a server's export is verified whole, without --newer";
  }
  if (agent !== undefined) return "--newer goes with all chains: leave it out to verify one agent's, or leave --agent out";
  return remembered === false ? '--newer reads from what is remembered on: leave --no-remember out, or --newer' : undefined;
}

function refuse(why: string): number {
  process.stderr.write(`countersign audit verify: ${why}\n`);
  return NO_CONNECTION;
}

const BAR_WIDTH = 30;

/** On one line while a person watches; silent in a pipe. */
function progressBar(): { show: (entries: number, total: number) => void; clear: () => void } {
  const { stderr } = process;
  if (!stderr.isTTY) return { show: () => undefined, clear: () => undefined };
  return {
    show: (entries, total) => {
      const share = total > 0 ? Math.min(1, entries / total) : 0;
      const full = Math.round(share * BAR_WIDTH);
      const bar = total > 0 ? `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)} ${Math.floor(share * 100)} %  ` : '';
      stderr.write(`\r\u001b[2K  ${bar}${counted(entries, 'entry', 'entries')}`);
    },
    clear: () => void stderr.write('\r\u001b[2K'),
  };
}
