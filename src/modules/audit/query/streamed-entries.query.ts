import type { StoredEntry } from '../../../domain/audit/entry/stored-entry.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { readByCursor } from '../../../platform/database/statements/read-by-cursor.js';
import { type MeasuredRow, numbered, TEXTS_AT } from './entry-rows.js';

/** Characters of texts that one batch holds, and one entry more. */
const MOST = 4 * 1024 * 1024;

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
