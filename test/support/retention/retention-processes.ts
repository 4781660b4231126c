import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestDatabase } from '../servers/database.js';
import { retentionDays, sweepEnvironment } from './retention.js';
import { CHECKOUT } from '../servers/test-run.js';

/** A process that sweeps when it is told to, as `countersign audit sweep` does, without the time that a program takes to start. */
export interface RetentionProcess {
  /** Begins, and does not wait. */
  begin(atOnce: number): void;
  /** One sweep to its end. @throws Error with what went wrong */
  sweep(atOnce: number): Promise<void>;
  kill(signal?: NodeJS.Signals): Promise<void>;
}

export async function aRetentionProcess(database: TestDatabase, archive: string): Promise<RetentionProcess> {
  const env = { PATH: process.env.PATH, ...sweepEnvironment(database, archive) };
  const child = fork(join(CHECKOUT, 'test/support/retention/retention-process.mjs'), { cwd: CHECKOUT, env, execArgv: [] });
  const gone = once(child, 'exit');
  await Promise.race([once(child, 'message'), gone.then(() => Promise.reject(new Error('the sweeper did not start')))]);
  return {
    begin: (atOnce) => void child.send({ atOnce, days: retentionDays(database) }),
    sweep: (atOnce) => reported(child, atOnce, retentionDays(database)),
    kill: async (signal = 'SIGKILL') => {
      child.kill(signal);
      await gone;
    },
  };
}

async function reported(child: ChildProcess, atOnce: number, days: number): Promise<void> {
  child.send({ atOnce, days });
  const [{ failed }] = (await once(child, 'message')) as [{ failed: readonly string[] }];
  if (failed.length > 0) throw new Error(failed.join('; '));
}
