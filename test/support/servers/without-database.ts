import pg from 'pg';
import type { TestServer } from './server.js';
import { adminUrl } from './test-run.js';

/** Does `then` while a server's database takes no connections and has ended those it had. */
export async function withoutDatabase(from: TestServer, then: () => Promise<void>): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl() });
  await admin.connect();
  try {
    await admin.query(`alter database ${from.database.name} with allow_connections false`);
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [from.database.name]);
    await then();
  } finally {
    await admin.query(`alter database ${from.database.name} with allow_connections true`);
    await admin.end();
  }
}
