import { PLATFORM_ORGANIZATION } from '../../../domain/audit/entry/chain.js';
import type { StoredEntry } from '../../../domain/audit/entry/stored-entry.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { bounded, ENTRY } from './bounded-text.js';
import { askable, ENTRY_COLUMNS, type EntryRow, numbered, ofEvent } from './entry-rows.js';

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
