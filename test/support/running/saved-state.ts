import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { TestDatabase } from '../servers/database.js';
import { adminUrl } from '../servers/test-run.js';

/** A database as it was at one moment. */
export interface SavedState {
  /** Puts it in the place of the database, under running servers: their connections are cut, and the next ones lead to it. */
  putBack(): Promise<void>;
  drop(): Promise<void>;
}

/** Copies the database as it stands; servers lose their connections for that moment. */
export async function saveState({ name }: TestDatabase): Promise<SavedState> {
  const saved = `${name}_saved_${randomBytes(3).toString('hex')}`;
  await administer(async (run) => {
    await alone(run, name, () => run(`create database ${saved} template ${name} strategy file_copy`));
  });
  return {
    putBack: () => administer(async (run) => {
      await run(`alter database ${name} with allow_connections false`);
      await run(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
      await run(`drop database ${name} with (force)`);
      await run(`create database ${name} template ${saved} strategy file_copy`);
    }),
    drop: () => administer(async (run) => run(`drop database if exists ${saved} with (force)`)),
  };
}

async function alone(run: (sql: string) => Promise<void>, name: string, work: () => Promise<void>): Promise<void> {
  await run(`alter database ${name} with allow_connections false`);
  try {
    for (let attempt = 1; ; attempt++) {
      await run(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
      try {
        return await work();
      } catch (error) {
        // Those that were told to go may take a moment.
        if ((error as { code?: unknown }).code !== '55006' || attempt === 20) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  } finally {
    await run(`alter database ${name} with allow_connections true`);
  }
}

async function administer(work: (run: (sql: string) => Promise<void>) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl() });
  await client.connect();
  try {
    await work(async (sql) => void (await client.query(sql)));
  } finally {
    await client.end();
  }
}
