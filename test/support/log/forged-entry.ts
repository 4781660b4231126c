import pg from 'pg';
import { prepareEntry, type RecordedEvent, type Stamp } from '../../../src/domain/audit/entry/prepare-entry.js';
import { APPEND_ENTRIES, entryColumns, subjectColumns } from '../../../src/platform/database/transaction/chain-writer.js';
import type { TestDatabase } from '../servers/database.js';

/** Entries that fit the chain in every way, appended past the server by the function that it appends with. */
export async function forge(database: TestDatabase, ...entries: readonly (readonly [RecordedEvent, Stamp])[]): Promise<void> {
  const prepared = entries.map(([event, stamp]) => prepareEntry(event, stamp));
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query('begin');
    for (const { organizationId, chain } of prepared) {
      await client.query('select 1 from audit_heads where organization_id = $1 and chain = $2 for update', [organizationId, chain]);
    }
    await client.query(APPEND_ENTRIES, [...entryColumns(prepared), ...subjectColumns(prepared)]);
    await client.query('commit');
  } finally {
    await client.end();
  }
}
