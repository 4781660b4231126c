import pg from 'pg';
import type { AuditEvent } from '../../../src/domain/audit/catalogue/audit-events.js';
import { platformChain } from '../../../src/domain/audit/entry/chain.js';
import type { PreparedEntry } from '../../../src/domain/audit/entry/prepare-entry.js';
import { asService } from '../../../src/platform/auth/access/call-context.js';
import { appendOutsideUnit } from '../../../src/platform/database/transaction/append-outside-unit.js';
import { APPEND_ENTRIES, entryColumns, subjectColumns } from '../../../src/platform/database/transaction/chain-writer.js';
import type { TestDatabase } from '../servers/database.js';

type Database = Pick<TestDatabase, 'url'>;

/** Appends to the platform's own chain past any server, as whoever owns the database can. */
export async function appendPast(database: Database, event: AuditEvent): Promise<void> {
  await inTransaction(database, async (client) => {
    await asService('cli', () => appendOutsideUnit(
      async (sql, parameters) => (await client.query<Record<string, unknown>>(sql, [...parameters])).rows, platformChain(), event));
  });
}

/** Appends entries past any server, and beside one that appends to the same chains. */
export async function appendEntriesPast(database: Database, ...entries: readonly PreparedEntry[]): Promise<void> {
  await inTransaction(database, (client) => appendLocked(client, entries));
}

/** The same on a connection there is: the heads of the chains are locked until its transaction ends. */
export async function appendLocked(client: pg.Client, entries: readonly PreparedEntry[]): Promise<void> {
  await client.query(
    `select from audit_heads where (organization_id, chain) in (select * from unnest($1::text[], $2::text[]))
     order by organization_id, chain for update`,
    [entries.map(({ organizationId }) => organizationId), entries.map(({ chain }) => chain)],
  );
  await client.query(APPEND_ENTRIES, [...entryColumns(entries), ...subjectColumns(entries)]);
}

async function inTransaction({ url }: Database, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('begin');
    await work(client);
    await client.query('commit');
  } finally {
    // An open transaction goes with its connection.
    await client.end();
  }
}
