import type { StoredEntry } from '../../domain/audit/stored-entry.js';

const text = (column: string, name = column) => `coalesce(e.${column}, '') as "${name}"`;

/**
 * Columns of an entry under the names the verifier and the presenter know them by. Of what must not be null nothing is, if somebody has
 * made it possible: an empty text is as wrong.
 */
export const ENTRY_COLUMNS = `e.organization_id as "organizationId", e.chain, e.seq, ${text('id')}, ${text('event')},
  e.agent_id as "agentId", ${text('actor_id', 'actorId')}, e.capability, e.outcome, ${text('timestamp')}, ${text('payload')},
  ${text('disclosures')}, e.prev_hash as "prevHash", ${text('hash')}`;

/** bigint arrives as text; a position never nears 2^53. */
export type Row<T> = Omit<T, 'seq'> & { seq: string };
export type EntryRow = Row<StoredEntry>;

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
