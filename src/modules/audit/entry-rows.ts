import type { StoredEntry } from '../../domain/audit/stored-entry.js';

/** Columns of an entry under the names the verifier and the presenter know them by. */
export const ENTRY_COLUMNS = `e.organization_id as "organizationId", e.chain, e.seq, e.id, e.event, e.agent_id as "agentId",
  e.actor_id as "actorId", e.capability, e.outcome, e."timestamp", e.payload, e.disclosures, e.prev_hash as "prevHash", e.hash`;

/** bigint arrives as text; a position never nears 2^53. */
export type Row<T> = Omit<T, 'seq'> & { seq: string };
export type EntryRow = Row<StoredEntry>;

export function numbered<T extends { seq: string }>(row: T): Omit<T, 'seq'> & { seq: number } {
  // In place: a verification takes millions of them.
  const numbering = row as unknown as { seq: string | number };
  numbering.seq = Number(row.seq);
  return row as unknown as Omit<T, 'seq'> & { seq: number };
}
