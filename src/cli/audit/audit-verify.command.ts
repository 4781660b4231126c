import { Command, Option } from 'commander';
import type { Verification } from '../../modules/audit/verification/verification-result.js';
import { withEnvironmentFile } from '../../start/environment-file.js';
import { LOCATION_ORDER, locationOf, describeLocation, type LogLocation } from '../verification/log-location.js';
import { failureReason } from '../failure-reason.js';
import { defaultRemembered, NOTHING_REMEMBERED, prepareToRemember, readRemembered, remember } from '../verification/remembered-checkpoints.js';
import { EXIT, NO_LOG, progressBar, progressLine, commandOutput } from '../command-output.js';
import { notProven, unprovenIn } from '../verification/remembered-report.js';
import { counted, verificationReport } from '../verification/verification-report.js';
import { verifierKeyOption } from '../verification/verifier-key-option.js';
import type { VerifySourceOptions } from '../verification/verify-log.js';

const { say, refuse } = commandOutput('audit verify');

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
    .description('Verifies every entry, every chain and the trees. '
      + 'Exit codes: 0 as written, 1 tampered with, 2 could not read, or not shown to go on from what is remembered.')
    .option('--database-url <url>', 'database to read')
    .addOption(new Option('--url <url>', 'server whose export is read and verified here').conflicts(['databaseUrl', 'file']))
    .option('--key <key>', 'credential for the server; default: COUNTERSIGN_KEY')
    .addOption(new Option('--file <file>', 'export to verify, .jsonl or .json, packed by gzip or not').conflicts('databaseUrl'))
    .addOption(verifierKeyOption('checkpoints'))
    .option('--agent <id>', "verify only this agent's chain")
    .option('--integrity', 'whether the log is as written; not whether rows agree with it, nor whether the gate was right')
    .option('--newer', 'of a database: read only what has come since it was last read, and remembered; older entries are not read again')
    .option('--remember <file>', 'where newest checkpoints are kept, and looked for the next time', defaultRemembered())
    .option('--no-remember', 'compare with no earlier checkpoint, and keep none')
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', LOCATION_ORDER)
    .action(async (options: VerifyOptions) => {
      process.exitCode = await verify(options, withEnvironmentFile(process.env));
    });
}

async function verify(options: VerifyOptions, env: NodeJS.ProcessEnv): Promise<number> {
  const { agent, json } = options;
  const progress = progressLine();
  const file = typeof options.remember === 'string' ? options.remember : undefined;
  try {
    const place = locationOf(options, env);
    const unfit = whyNotNewer(options, place);
    if (unfit !== undefined) return refuse(unfit, EXIT.NO_CONNECTION);
    const outcome = await read(place, howOf(options, file, progress.show), env).finally(progress.clear);
    if (agent !== undefined && outcome.chains === 0 && outcome.breaksFound === 0) {
      return refuse(`there is no entry of an agent ${agent}`, EXIT.NO_CONNECTION);
    }
    const { notes: _notes, readUpTo: _readUpTo, members, ...shown } = outcome;
    const report = () => verificationReport(outcome, process.stdout.isTTY, agent);
    const told = json ? `${JSON.stringify({ ...shown, ...members }, null, 2)}\n` : report();
    process.stdout.write(told);
    if (!outcome.valid) return EXIT.REFUSED;
    const unproven = unprovenIn(outcome, place.kind);
    if (unproven.length > 0) return refuse(notProven(unproven, place.kind), EXIT.NO_CONNECTION);
    // What was found wrong is nothing to compare with the next time.
    if (file !== undefined) remember(file, outcome);
    return EXIT.WELL;
  } catch (error) {
    return refuse(failureReason(error, NO_LOG), EXIT.NO_CONNECTION);
  }
}

/** @throws Error when what is remembered cannot be read, or nothing could be kept: before the log is read, which takes its time */
function howOf(options: VerifyOptions, file: string | undefined, show: (text: string) => void): VerifySourceOptions {
  const { agent, newer, verifierKey, integrity } = options;
  const { notes, readUpTo } = file === undefined ? NOTHING_REMEMBERED : readRemembered(file);
  if (file !== undefined) prepareToRemember(file);
  return {
    remembered: notes,
    remembers: file !== undefined,
    ...(newer ? { since: readUpTo } : {}),
    verifierKeys: verifierKey ?? [],
    integrityOnly: integrity ?? false,
    onProgress: (entries, total) => show(`${total > 0 ? progressBar(entries / total) : ''}${counted(entries, 'entry', 'entries')}`),
    ...(agent === undefined ? {} : { agentId: agent }),
  };
}

async function read(place: LogLocation, how: VerifySourceOptions, env: NodeJS.ProcessEnv): Promise<Verification> {
  // Loaded when a log is verified: what reads and judges it takes longer to load than any other command to do its work.
  const { verifyFromDatabase, verifyFromFile, verifyFromServer } = await import('../verification/verify-log.js');
  say(describeLocation(place));
  if (place.kind === 'file') return verifyFromFile(place.file, env, how);
  return place.kind === 'server' ? verifyFromServer(place, env, how) : verifyFromDatabase(place.url, env, how);
}

/** What is newer can be judged of a database, by one who remembers the rest, and of all chains together. */
function whyNotNewer({ newer, agent, remember: remembered }: VerifyOptions, { kind }: LogLocation): string | undefined {
  if (!newer) return undefined;
  if (kind === 'file') return '--newer reads a database: a file is verified whole; leave --newer out';
  if (kind === 'server') return "--newer reads a database: give --database-url; a server's export is verified whole, without --newer";
  if (agent !== undefined) return "--newer goes with all chains: leave it out to verify one agent's, or leave --agent out";
  return remembered === false ? '--newer reads from what is remembered on: leave --no-remember out, or --newer' : undefined;
}
