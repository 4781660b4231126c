import type { PreparedEntry } from '../../../src/domain/audit/entry.js';
import { APPEND_ENTRIES, entryColumns, subjectColumns } from '../../../src/platform/database/chain-writer.js';
import type { Place } from './place.js';

/** By the function that the server appends with: whoever owns the database has it, too. */
export async function append(place: Place, ...entries: readonly PreparedEntry[]): Promise<void> {
  await place.run(APPEND_ENTRIES, [...entryColumns(entries), ...subjectColumns(entries)]);
}
