import pg from 'pg';
import type { AuditEvent } from '../../src/domain/audit/catalogue.js';
import { platformChain } from '../../src/domain/audit/chain.js';
import { asService } from '../../src/platform/auth/call-context.js';
import { appendAlone } from '../../src/platform/database/append-alone.js';
import type { TestDatabase } from './database.js';

/** Appends to the platform's own chain past any server, as whoever owns the database can. */
export async function appendPast(database: TestDatabase, event: AuditEvent): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await asService('cli', () => appendAlone(
      async (sql, parameters) => (await client.query<Record<string, unknown>>(sql, parameters)).rows, platformChain(), event));
  } finally {
    await client.end();
  }
}
