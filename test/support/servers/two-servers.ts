import { expect } from '@jest/globals';
import pg from 'pg';
import { type DatabaseProxy, proxyTo } from './database-proxy.js';
import { eventually } from '../running/eventually.js';
import { startServer, type TestServer } from './server.js';

/** Two servers on one database. What the busy one asks of it goes over a line that a test can hold. */
export interface TwoServers {
  readonly busy: TestServer;
  readonly other: TestServer;
  readonly line: DatabaseProxy;
  close(): Promise<void>;
}

export async function twoServers(): Promise<TwoServers> {
  const other = await startServer();
  const line = await proxyTo(other.database.url);
  const busy = await startServer({ replicaOf: other, env: { DATABASE_URL: line.url } });
  return {
    busy,
    other,
    line,
    close: async () => {
      await busy.stop();
      await other.stop();
      await line.close();
    },
  };
}

/** Ids of the entries of everything that has begun so far. */
export async function begunOn(server: TestServer): Promise<string[]> {
  const rows = await server.sql<{ id: string }>(`select id from audit_entries where event = 'execution.started' order by id`);
  return rows.map(({ id }) => id);
}

/** Resolves once a statement that looks like this waits for a lock. */
export async function isWaitingOn(server: TestServer, query: string): Promise<void> {
  await eventually(async () => {
    const rows = await server.sql(`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
      and query like $1`, [`%${query}%`]);
    expect(rows.length).toBeGreaterThan(0);
  });
}

/** Resolves once a connection has asked this last. */
export async function hasAsked(server: TestServer, query: string): Promise<void> {
  await eventually(async () => {
    const rows = await server.sql(
      'select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and query like $1', [`%${query}%`]);
    expect(rows.length).toBeGreaterThan(0);
  });
}

/** Keeps everybody from reading a table, or from writing it (`share`), until it is released. */
export async function tableHeld(
  server: TestServer, table: string, mode: 'access exclusive' | 'share' = 'access exclusive',
): Promise<{ release(): Promise<void> }> {
  const client = new pg.Client({ connectionString: server.database.url });
  await client.connect();
  await client.query(`begin; lock table ${table} in ${mode} mode`);
  let released: Promise<void> | undefined;
  return { release: () => (released ??= client.end()) };
}
