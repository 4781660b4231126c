import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { adminUrl } from './test-run.js';

export const TEMPLATE = 'countersign_test_template';

export interface TestDatabase {
  readonly url: string;
  readonly name: string;
  /** Runs one statement on a connection of the test's own; `bigint` comes back as text. */
  sql<Row extends pg.QueryResultRow>(text: string, params?: readonly unknown[]): Promise<Row[]>;
  drop(): Promise<void>;
}

/** A database of the test's own: a copy of the template (migrated, first run done), or an empty one. */
export async function createTestDatabase(from: 'template' | 'empty' = 'template'): Promise<TestDatabase> {
  const name = `countersign_test_${randomBytes(6).toString('hex')}`;
  await administer(`create database ${name} template ${from === 'template' ? TEMPLATE : 'template0'}`);
  const url = withDatabase(adminUrl(), name);
  const pool = new pg.Pool({ connectionString: url, max: 2, allowExitOnIdle: true });
  // Dropping the database ends idle connections; that is no failure of the test.
  pool.on('error', () => undefined);
  return {
    url,
    name,
    sql: async <Row extends pg.QueryResultRow>(text: string, params: readonly unknown[] = []) =>
      (await pool.query<Row>(text, [...params])).rows,
    drop: async () => {
      await pool.end();
      await administer(`drop database if exists ${name} with (force)`);
    },
  };
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl() });
  await client.connect();
  try {
    await patiently(() => client.query(statement));
  } finally {
    await client.end();
  }
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** `with (force)` may not end an autovacuum worker that happens to be in the database; a moment later it is gone by itself. */
async function patiently(run: () => Promise<unknown>, attempts = 20): Promise<void> {
  try {
    await run();
  } catch (error) {
    if ((error as { code?: unknown }).code !== '42501' || attempts <= 1) throw error;
    await new Promise((resolve) => setTimeout(resolve, 250));
    await patiently(run, attempts - 1);
  }
}
