import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { CHECKOUT, type Environment } from '../servers/test-run.js';

export interface StartedCommand {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown>;
  isRunning(): boolean;
}

/** Starts `node bin/countersign.mjs …`, for a test that ends it. */
export function startCountersign(words: readonly string[], env: Environment): StartedCommand {
  const { PATH, HOME, TMPDIR } = process.env;
  const child = spawn(process.execPath, [join(CHECKOUT, 'bin', 'countersign.mjs'), ...words], {
    cwd: CHECKOUT, env: { PATH, HOME, TMPDIR, NODE_ENV: 'test', ...env }, stdio: 'ignore',
  });
  return { child, ended: once(child, 'close'), isRunning: () => child.exitCode === null && child.signalCode === null };
}
