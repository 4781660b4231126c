import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestDatabase } from './database.js';
import { CHECKOUT, TEST_ENVIRONMENT } from './test-run.js';

/** The built product without its routes, in a process of its own beside whatever server works on the database. */
export interface ProductProcess {
  /** Rejects with what the command threw, as text. */
  ask<Answer>(command: string, ...args: readonly unknown[]): Promise<Answer>;
  close(): Promise<void>;
}

/** @param script of test/support: it says `ready`, and answers `{n, command, args}` with `{n, answer}` or `{n, error}` */
export async function startProduct(script: string, database: TestDatabase): Promise<ProductProcess> {
  const env = { ...process.env, ...TEST_ENVIRONMENT, AUDIT_ANCHORS: database.anchors, DATABASE_URL: database.url };
  const child = fork(join(CHECKOUT, 'test/support', script), { cwd: CHECKOUT, env, execArgv: [] });
  const gone = once(child, 'exit');
  const waiting = new Map<number, { resolve: (answer: unknown) => void; reject: (error: Error) => void }>();
  await Promise.race([once(child, 'message'), gone.then(() => Promise.reject(new Error(`${script} did not start`)))]);
  child.on('message', ({ n, answer, error }: { n: number; answer?: unknown; error?: string }) => {
    const { resolve, reject } = waiting.get(n)!;
    if (error === undefined) resolve(answer);
    else reject(new Error(error));
  });
  let asked = 0;
  return {
    ask: <Answer>(command: string, ...args: readonly unknown[]) =>
      new Promise<Answer>((resolve, reject) => {
        const n = ++asked;
        waiting.set(n, { resolve: resolve as (answer: unknown) => void, reject });
        child.send({ n, command, args });
      }),
    close: async () => {
      child.disconnect();
      await gone;
    },
  };
}
