import { Command, Option } from 'commander';
import type { Verification } from '../../modules/audit/verification/verification-result.js';
import { withEnvironmentFile } from '../../start/environment-file.js';
import { LOCATION_ORDER, locationOf, describeLocation } from '../verification/log-location.js';
import { keyFileOption, keyOption } from '../given-key.js';
import { failureReason } from '../failure-reason.js';
import { defaultRemembered, prepareToRemember, readRemembered, remember } from '../verification/remembered-checkpoints.js';
import { EXIT, type ExitCode, NO_LOG, progressBar, progressLine, commandOutput } from '../command-output.js';
import { anchorsCopyOption, rehearsalMemory, withAnchorsCopy } from '../verification/anchors-copy.js';
import { counted, verificationReport } from '../verification/verification-report.js';
import { verifierKeyOption } from '../verification/verifier-key-option.js';
import type { VerifySourceOptions } from '../verification/verify-options.js';

const { say, refuse } = commandOutput('audit verify');

interface VerifyOptions {
  databaseUrl?: string;
  url?: string;
  key?: string;
  keyFile?: string;
  file?: string;
  verifierKey?: string[];
  agent?: string;
  integrity?: boolean;
  anchorsCopy?: string;
  remember: string | boolean;
  json?: boolean;
}

/** `audit verify`: of a database, a server's export or a file. */
export function auditVerifyCommand(): Command {
  return new Command('verify')
    .description('Verifies every entry, every chain and the trees. '
      + 'Exit codes: 0 as written, 1 tampered with, 2 unreadable, or not proven to continue the remembered checkpoints.')
    .option('--database-url <url>', 'database to read')
    .addOption(new Option('--url <url>', 'server whose export is read and verified here').conflicts(['databaseUrl', 'file']))
    .addOption(keyOption())
    .addOption(keyFileOption())
    .addOption(new Option('--file <file>', 'export to verify, .jsonl or .json, packed by gzip or not').conflicts('databaseUrl'))
    .addOption(verifierKeyOption('checkpoints'))
    .option('--agent <id>', "verify only this agent's chain")
    .option('--integrity', 'of a database: only whether the log is as written; skips comparing rows with entries, and replaying decisions')
    .addOption(anchorsCopyOption())
    .option('--remember <file>', 'file that keeps the newest checkpoints, for the next verification to compare with (with --anchors-copy: '
      + 'remembered.json in that folder)', defaultRemembered())
    .option('--no-remember', 'compare with no earlier checkpoint, and keep none')
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', LOCATION_ORDER)
    .action(async (options: VerifyOptions, command: Command) => {
      const isOwnMemory = options.anchorsCopy !== undefined && command.getOptionValueSource('remember') === 'default';
      const meant = isOwnMemory ? { ...options, remember: rehearsalMemory(options.anchorsCopy!) } : options;
      process.exitCode = await verify(meant, withEnvironmentFile(process.env));
    });
}

async function verify(options: VerifyOptions, given: NodeJS.ProcessEnv): Promise<number> {
  const { agent, anchorsCopy } = options;
  const progress = progressLine();
  const memory = typeof options.remember === 'string' ? options.remember : undefined;
  try {
    const env = withAnchorsCopy(given, anchorsCopy);
    const location = locationOf(options, env);
    const sourceOptions = sourceOptionsOf(options, memory, progress.show);
    if (location.kind !== 'database') {
      const { verifyExport } = await import('../verification/verify-export.js');
      say(describeLocation(location));
      const outcome = await verifyExport(location, env, sourceOptions).finally(progress.clear);
      if (agent !== undefined && outcome.members.entries === 0 && outcome.members.valid) return noEntryOf(agent);
      print(options, outcome.members, () => outcome.report);
      return concluded(outcome.members.valid, outcome.notes, memory, outcome.notShown);
    }
    // Loaded when a log is verified: the code that reads and checks a log takes longer to load than any other command takes to run.
    const { verifyFromDatabase } = await import('../verification/verify-log.js');
    say(describeLocation(location));
    const outcome = await verifyFromDatabase(location.url, env, sourceOptions).finally(progress.clear);
    if (agent !== undefined && outcome.chains === 0 && outcome.breaksFound === 0) return noEntryOf(agent);
    print(options, jsonOf(outcome), () => verificationReport(outcome, process.stdout.isTTY, agent));
    return concluded(outcome.valid, outcome.notes, memory);
  } catch (error) {
    return refuse(failureReason(error, NO_LOG), EXIT.NO_CONNECTION);
  }
}

function noEntryOf(agent: string): ExitCode {
  return refuse(`there is no entry of an agent ${agent}`, EXIT.NO_CONNECTION);
}

function print({ json }: VerifyOptions, members: object, report: () => string): void {
  process.stdout.write(json ? `${JSON.stringify(members, null, 2)}\n` : report());
}

function jsonOf({ notes: _notes, members, ...shown }: Verification): object {
  return { ...shown, ...members };
}

/** The exit code. Checkpoints of a tampered log are not remembered. */
function concluded(isValid: boolean, notes: readonly string[], memory: string | undefined, notShown?: string): ExitCode {
  if (!isValid) return EXIT.REFUSED;
  if (notShown !== undefined) return refuse(notShown, EXIT.NO_CONNECTION);
  if (memory !== undefined) remember(memory, notes);
  return EXIT.WELL;
}

/** @throws Error when the remembered checkpoints cannot be read or written; found out before the log is read, which takes long */
function sourceOptionsOf(options: VerifyOptions, memory: string | undefined, show: (text: string) => void): VerifySourceOptions {
  const { agent, verifierKey, integrity } = options;
  const remembered = memory === undefined ? [] : readRemembered(memory);
  if (memory !== undefined) prepareToRemember(memory);
  return {
    remembered,
    verifierKeys: verifierKey ?? [],
    integrityOnly: integrity ?? false,
    onProgress: (entries, total) => show(`${total > 0 ? progressBar(entries / total) : ''}${counted(entries, 'entry', 'entries')}`),
    ...(agent === undefined ? {} : { agentId: agent }),
  };
}
