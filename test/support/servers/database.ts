import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { adminUrl, runFolder, superuserUrl } from './test-run.js';

export const TEMPLATE = 'countersign_test_template';

export interface TestDatabase {
  readonly url: string;
  readonly name: string;
  /** Runs one statement on a connection of the test's own; `bigint` comes back as text. */
  sql<Row extends pg.QueryResultRow>(text: string, params?: readonly unknown[]): Promise<Row[]>;
  /**
   * Runs statements as whoever owns the machine can: in one transaction, and no trigger fires, so that the log can be rewritten.
   * Answers the rows of the last.
   */
  asSuperuser<Row extends pg.QueryResultRow>(...statements: readonly string[]): Promise<Row[]>;
  /** Address of this database for its superuser. */
  readonly superuserUrl: string;
  /** Where servers on this database keep its checkpoints: every copy of the template has anchors of its own. */
  readonly anchors: string;
  drop(): Promise<void>;
}

/** A database of the test's own: a copy of the template (migrated, first run done), or an empty one. */
export async function createTestDatabase(from: 'template' | 'empty' = 'template'): Promise<TestDatabase> {
  const name = `countersign_test_${randomBytes(6).toString('hex')}`;
  // By files: written by way of the log, as is the default, a copy takes three times as long.
  await administer(`create database ${name} template ${from === 'template' ? TEMPLATE : 'template0'} strategy file_copy`);
  const url = withDatabase(adminUrl(), name);
  const pool = new pg.Pool({ connectionString: url, max: 2, allowExitOnIdle: true });
  // Dropping the database ends idle connections; that is no failure of the test.
  pool.on('error', () => undefined);
  const ownUrl = withDatabase(superuserUrl(), name);
  return {
    url,
    name,
    superuserUrl: ownUrl,
    anchors: `file:${join(runFolder(), 'anchors', name)}`,
    asSuperuser: <Row extends pg.QueryResultRow>(...statements: readonly string[]) => withoutTriggers<Row>(ownUrl, statements),
    sql: async <Row extends pg.QueryResultRow>(text: string, params: readonly unknown[] = []) =>
      (await pool.query<Row>(text, [...params])).rows,
    drop: async () => {
      await pool.end();
      await administer(`drop database if exists ${name} with (force)`);
    },
  };
}

async function withoutTriggers<Row extends pg.QueryResultRow>(url: string, statements: readonly string[]): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('begin');
    await client.query('set local session_replication_role = replica');
    let rows: Row[] = [];
    for (const statement of statements) ({ rows } = await client.query<Row>(statement));
    await client.query('commit');
    return rows;
  } finally {
    // An open transaction goes with its connection.
    await client.end();
  }
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
