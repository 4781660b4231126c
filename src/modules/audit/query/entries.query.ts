import { PLATFORM_ORGANIZATION } from '../../../domain/audit/entry/chain.js';
import type { StoredEntry } from '../../../domain/audit/entry/stored-entry.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { readByCursor } from '../../../platform/database/statements/read-by-cursor.js';
import { bounded, ENTRY } from './bounded-text.js';
import { askable, ENTRY_COLUMNS, type EntryRow, type MeasuredRow, numbered, ofEvent, TEXTS_AT } from './entry-rows.js';

/** Characters of texts that one batch of streamed entries holds, and one entry more. */
const MOST = 4 * 1024 * 1024;

/** Entries of an organization by their positions, in that order; undefined for one that is not there. */
export async function entriesAt(
  run: ReadStatement, organizationId: string, positions: readonly { readonly chain: string; readonly seq: number }[],
): Promise<(StoredEntry | undefined)[]> {
  if (positions.length === 0) return [];
  const rows = (await run(
    `select ${ENTRY_COLUMNS}, wanted.n from unnest($2::text[], $3::bigint[]) with ordinality as wanted(chain, seq, n)
     join audit_entries e on e.organization_id = $1 and e.chain = wanted.chain and e.seq = wanted.seq`,
    [organizationId, positions.map(({ chain }) => chain), positions.map(({ seq }) => askable(seq))],
  )) as (EntryRow & { readonly n: string })[];
  const entries = new Array<StoredEntry | undefined>(positions.length);
  for (const { n, ...row } of rows) entries[Number(n) - 1] = numbered(row);
  return entries;
}

/** An organization's entries of one event, in the order in which they were made. */
export async function entriesOfEvent(run: ReadStatement, organizationId: string, event: string): Promise<StoredEntry[]> {
  return ((await run(ofEvent(ENTRY_COLUMNS), [organizationId, event])) as EntryRow[]).map(numbered) as StoredEntry[];
}

/** What the entries of the installation's recoveries say. */
export async function recoveryPayloads(run: ReadStatement): Promise<string[]> {
  const rows = await run(ofEvent(`${bounded('e.payload', ENTRY)} as payload`), [PLATFORM_ORGANIZATION, 'admin.recovered']);
  return (rows as { payload: string }[]).map(({ payload }) => payload);
}

/**
 * Entries by a cursor, in batches that are bounded by what they hold: callers send inputs and outputs of any size, and thousands of large
 * ones in one piece would be hundreds of megabytes.
 *
 * @param sql with `MEASURED_COLUMNS`
 */
export async function* streamedEntries(
  run: ReadStatement, sql: string, parameters: readonly unknown[],
): AsyncGenerator<StoredEntry[], void, void> {
  for await (const rows of readByCursor<MeasuredRow>(run, sql, parameters)) {
    let batch: StoredEntry[] = [];
    let size = 0;
    for (const row of rows) {
      const entry = row.largeAt === null ? entryOf(row) : await largeEntry(run, row, row.largeAt);
      batch.push(entry);
      size += entry.payload.length + entry.disclosures.length;
      if (size < MOST) continue;
      yield batch;
      [batch, size] = [[], 0];
    }
    if (batch.length > 0) yield batch;
  }
}

async function largeEntry(run: ReadStatement, row: MeasuredRow, at: string): Promise<StoredEntry> {
  const [texts] = (await run(TEXTS_AT, [at])) as Pick<StoredEntry, 'payload' | 'disclosures'>[];
  return entryOf({ ...row, ...texts });
}

function entryOf(row: MeasuredRow): StoredEntry {
  return numbered(row) as unknown as StoredEntry;
}
