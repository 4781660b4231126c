import type { PreparedEntry } from '../../../src/domain/audit/entry/prepare-entry.js';
import { APPEND_ENTRIES, entryColumns, subjectColumns } from '../../../src/platform/database/transaction/chain-writer.js';
import type { TamperTarget } from './tampering.js';

/** By the function that the server appends with: whoever owns the database has it, too. */
export async function append(place: TamperTarget, ...entries: readonly PreparedEntry[]): Promise<void> {
  await place.run(APPEND_ENTRIES, [...entryColumns(entries), ...subjectColumns(entries)]);
}
