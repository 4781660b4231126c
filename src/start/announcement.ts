import { withoutCredentials, createLogger, type Logger } from '../platform/logging/logger.js';
import { banner, type BannerFacts } from './banner.js';

/** What was made for the operator and must not be lost, however the start ends. */
export interface Made {
  rootKey?: string;
  /** Whether this start made the schema. */
  isFirst?: boolean;
}

/** Whether a stream is read by programs: then everything on it is lines of JSON. A trial's is read by people, whatever it goes through. */
export function isForPrograms(env: NodeJS.ProcessEnv, stream: { readonly isTTY?: boolean }): boolean {
  return env.NODE_ENV === 'production' && stream.isTTY !== true;
}

/** Says that the server is ready, or why it serves nobody yet. */
export function announceStart(facts: BannerFacts, env: NodeJS.ProcessEnv, logger: Logger): void {
  if (!isForPrograms(env, process.stdout)) {
    process.stdout.write(banner(facts, process.stdout.isTTY === true && !env.NO_COLOR));
    return;
  }
  const { version, url, held, rootKey, rootKeyFile, keptFor } = facts;
  if (rootKey !== undefined) showRootKey(rootKey);
  if (rootKeyFile !== undefined) logger.info({ file: rootKeyFile }, 'the root key was made and written to a file');
  if (keptFor !== undefined) logger.info(keptFor);
  if (held === undefined) logger.info({ version, url }, 'the server is ready');
  else logger.error({ version, url, because: held }, 'the server runs, and serves nobody: its database is held');
}

/** Past the logger, which takes keys out of whatever it writes. */
function showRootKey(rootKey: string): void {
  const msg = 'the root key was made, and is shown this once: keep it where only you can read it';
  const line = { level: 'warn', time: new Date().toISOString(), service: 'countersign', pid: process.pid, rootKey, msg };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Says why the server did not start. @param isRefusal the message is all that the operator needs */
export function explainFailure(reason: Error, isRefusal: boolean, env: NodeJS.ProcessEnv, made: Made, logger: Logger | undefined): void {
  if (isForPrograms(env, process.stderr)) {
    (logger ?? createLogger({ logLevel: 'info' })).fatal(isRefusal ? {} : { err: reason }, `the server did not start: ${reason.message}`);
    if (made.rootKey !== undefined) showRootKey(made.rootKey);
    return;
  }
  process.stderr.write(`\nThe server did not start.\n${withoutCredentials(reason.message)}\n`);
  if (!isRefusal) {
    if (logger?.isLevelEnabled('debug')) logger.debug({ err: reason }, 'the server did not start');
    else process.stderr.write('LOG_LEVEL=debug shows where this came from.\n');
  }
  if (made.rootKey !== undefined) process.stderr.write(`The root key has been made, and is shown this once: ${made.rootKey}\n`);
}
