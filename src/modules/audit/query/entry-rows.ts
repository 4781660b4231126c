import type { StoredEntry } from '../../../domain/audit/entry/stored-entry.js';
import { bounded, ENTRY } from './bounded-text.js';

const text = (column: string, name = column, most?: number) => `coalesce(${bounded(`e.${column}`, most)}, '') as "${name}"`;
const nullable = (column: string, name = column) => `${bounded(`e.${column}`)} as "${name}"`;
const said = (column: string) => text(column, column, ENTRY);

/**
 * Columns of an entry under the names the verifier and the presenter know them by. Of what must not be null nothing is, if somebody has
 * made it possible: an empty text is as wrong.
 */
export const ENTRY_COLUMNS = `${nullable('organization_id', 'organizationId')}, ${nullable('chain')}, e.seq, ${text('id')},
  ${text('event')}, ${nullable('agent_id', 'agentId')}, ${text('actor_id', 'actorId')}, ${nullable('capability')}, ${nullable('outcome')},
  ${text('timestamp')}, ${said('payload')}, ${said('disclosures')}, ${nullable('prev_hash', 'prevHash')}, ${text('hash')}`;

/** Bytes of payload and disclosures up to which an entry comes along with others; a larger one is read alone. */
const LARGE = 16 * 1024;

const IS_LARGE = `coalesce(octet_length(e.payload), 0) + coalesce(octet_length(e.disclosures), 0) > ${LARGE}`;
const unlessLarge = (columns: string, column: string) =>
  columns.replace(said(column), `case when ${IS_LARGE} then null else coalesce(e.${column}, '') end as "${column}"`);

/** The same for `streamedEntries`: where a large entry stands, instead of its texts. */
export const MEASURED_COLUMNS =
  `${['payload', 'disclosures'].reduce(unlessLarge, ENTRY_COLUMNS)}, case when ${IS_LARGE} then e.ctid::text end as "largeAt"`;

/** What {@link MEASURED_COLUMNS} leave out, by the row's address: at one moment that is one row, whatever somebody did to its keys. */
export const TEXTS_AT = `select ${said('payload')}, ${said('disclosures')} from audit_entries e where e.ctid = $1::tid`;

/** SQL of an organization's entries of one event, in the order in which they were made: `$1` and `$2`, by the index over both. */
export const ofEvent = (columns: string) => `
  select ${columns} from audit_entries e
  where hashtextextended((e.organization_id || ' ' || e.event) collate "C", 0) = hashtextextended(($1 || ' ' || $2) collate "C", 0)
    and e.organization_id = $1 and e.event = $2 order by e.id`;

/** bigint arrives as text; a position never nears 2^53. */
export type Row<T> = Omit<T, 'seq'> & { seq: string };
export type EntryRow = Row<StoredEntry>;
export type MeasuredRow = Omit<EntryRow, 'payload' | 'disclosures'> & Record<'payload' | 'disclosures' | 'largeAt', string | null>;

/** A position as a statement takes it: none, where somebody has put a number there to which no chain can come. */
export function askable(seq: number): number | null {
  return Number.isSafeInteger(seq) ? seq : null;
}

export function numbered<T extends { seq: string }>(row: T): Omit<T, 'seq'> & { seq: number } {
  // In place: a verification takes millions of them.
  const numbering = row as unknown as { seq: string | number };
  numbering.seq = Number(row.seq);
  return row as unknown as Omit<T, 'seq'> & { seq: number };
}
