import { Countersign, CountersignError, type ErrorCode } from '@countersign/sdk';
import type { Command } from 'commander';
import { oneLine } from '../../domain/notifications/plain-text.js';
import { withEnvironmentFile } from '../../start/environment-file.js';
import { EXIT, UsageError, commandOutput, type ExitCode } from '../command-output.js';
import { givenKey, keyFileOption, type KeyOptions, keyOption } from '../given-key.js';
import { lightFetch } from './light-fetch.js';

/** A person waits before the terminal: a server that does not answer is given up sooner than a program would. */
const TIMEOUT_MS = 10_000;
/** What went wrong before or beside an answer of the service's; every other code is a refusal. */
const UNANSWERED: readonly ErrorCode[] =
  ['INVALID_OPTIONS', 'UNREACHABLE', 'BAD_RESPONSE', 'DEADLINE_EXCEEDED', 'ABORTED', 'TOKEN_EXPIRED'];

/** What every command that calls a server takes. */
export interface ServiceOptions extends KeyOptions {
  readonly url?: string;
  readonly json?: boolean;
}

export function withServiceOptions(command: Command): Command {
  return command
    .option('--url <url>', 'server; default: COUNTERSIGN_URL')
    .addOption(keyOption())
    .addOption(keyFileOption())
    .option('--json', 'print one JSON object');
}

/** A command's call: what it does with the server, and how that ends. */
export type ServiceWork<Options> = (service: Countersign, options: Options, signal: AbortSignal) => Promise<ExitCode | void>;

/**
 * Runs `work` on the server that was named, sets the exit code, and says what went wrong in one line without the key. An interrupt ends
 * the call; what was sent may have been done.
 */
export async function onService<Options extends ServiceOptions>(name: string, options: Options, work: ServiceWork<Options>): Promise<void> {
  const { refuse } = commandOutput(name);
  const cut = new AbortController();
  const stop = () => cut.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    process.exitCode = (await work(serviceOf(options, withEnvironmentFile(process.env)), options, cut.signal)) ?? EXIT.WELL;
  } catch (error) {
    if (error instanceof UsageError) process.exitCode = refuse(error.message, EXIT.NO_CONNECTION);
    else if (error instanceof CountersignError) process.exitCode = refuse(whatWentWrong(error), exitCodeOf(error));
    else throw error;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

function serviceOf({ url, ...given }: ServiceOptions, env: NodeJS.ProcessEnv): Countersign {
  const address = url ?? env['COUNTERSIGN_URL'];
  if (!address) throw new UsageError('no server: give --url or COUNTERSIGN_URL, such as https://countersign.example');
  const credential = givenKey(given, env);
  if (!credential) throw new UsageError('no key: give --key-file, COUNTERSIGN_KEY or COUNTERSIGN_KEY_FILE');
  return new Countersign({ url: address, credential, timeoutMs: TIMEOUT_MS, fetch: lightFetch() });
}

/** An input that was refused here was sent to nobody: that is wrong usage, as anything is that has no status. */
function exitCodeOf({ code, status }: CountersignError): ExitCode {
  const isUnanswered = UNANSWERED.includes(code) || (code === 'VALIDATION_FAILED' && status === undefined);
  return isUnanswered ? EXIT.NO_CONNECTION : EXIT.REFUSED;
}

/** What the service repeats of somebody's is shown so that every character is seen. */
function whatWentWrong(error: CountersignError): string {
  const { code, detail, cause, requestId, executionId, hitlId, idempotencyKey, retryAfterMs, errors = [] } = error;
  const isUnexplained = code === 'UNREACHABLE' && retryAfterMs !== Infinity && cause instanceof Error;
  const why = isUnexplained ? ` (${cause.message || (cause as NodeJS.ErrnoException).code})` : '';
  const pointers = errors.filter(({ pointer }) => !detail.includes(pointer)).map(({ pointer, message }) => `; ${pointer}: ${message}`);
  // Only where it is to be asked again by it.
  const key = /same key/.test(detail) ? idempotencyKey : undefined;
  const about = [['execution', executionId], ['request', hitlId], ['call', requestId], ['--idempotency-key', key]]
    .flatMap(([what, id]) => (id ? [`${what} ${id}`] : []));
  return oneLine(`${code}: ${detail}${why}${pointers.join('')}${about.length > 0 ? ` [${about.join(', ')}]` : ''}`, Infinity);
}
