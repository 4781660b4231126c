import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { JsonObject } from '../../src/domain/json.js';
import type { ErasureTarget, PersonalData } from '../../src/platform/audit/personal-data.js';
import type { TestDatabase } from './database.js';
import { CHECKOUT, TEST_ENVIRONMENT } from './test-run.js';

/** What was changed and what was left, by kind, and in how many units of work. */
export interface Pass {
  readonly counts: Readonly<Record<string, number>>;
  readonly calls: number;
}

/** The holders of personal data as a server has them, in a process of their own beside whatever server works on the database. */
export interface Eraser {
  readonly holders: readonly Pick<PersonalData, 'name' | 'tables'>[];
  /** One pass through all holders, each to its end. `limit`: rows of one unit of work. */
  erase(what: ErasureTarget, limit?: number): Promise<Pass>;
  /** What each holder knows of a person, by its name. */
  about(organizationId: string, userId: string): Promise<Readonly<Record<string, JsonObject>>>;
  close(): Promise<void>;
}

export async function anEraser(database: TestDatabase): Promise<Eraser> {
  const env = { ...process.env, ...TEST_ENVIRONMENT, AUDIT_ANCHORS: database.anchors, DATABASE_URL: database.url };
  const child = fork(join(CHECKOUT, 'test/support/eraser-process.mjs'), { cwd: CHECKOUT, env, execArgv: [] });
  const gone = once(child, 'exit');
  const waiting = new Map<number, { resolve: (answer: unknown) => void; reject: (error: Error) => void }>();
  await Promise.race([once(child, 'message'), gone.then(() => Promise.reject(new Error('the eraser did not start')))]);
  child.on('message', ({ n, answer, error }: { n: number; answer?: unknown; error?: string }) => {
    const { resolve, reject } = waiting.get(n)!;
    if (error === undefined) resolve(answer);
    else reject(new Error(error));
  });
  let asked = 0;
  const ask = <Answer>(deed: string, ...args: readonly unknown[]): Promise<Answer> =>
    new Promise<Answer>((resolve, reject) => {
      const n = ++asked;
      waiting.set(n, { resolve: resolve as (answer: unknown) => void, reject });
      child.send({ n, deed, args });
    });
  return {
    holders: await ask<Eraser['holders']>('holders'),
    erase: (what, limit = 1_000) => ask<Pass>('erase', what, limit),
    about: (organizationId, userId) => ask('about', organizationId, userId),
    close: async () => {
      child.disconnect();
      await gone;
    },
  };
}
