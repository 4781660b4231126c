import type { LogSource, LogStreams, Selection } from '../../domain/audit/verify.js';
import type { StoredEntry } from '../../domain/audit/stored-entry.js';

/** Runs one statement of a transaction that stands still (repeatable read): TypeORM's runner, or a plain client. */
export type RunsSql = (sql: string, parameters: readonly unknown[]) => Promise<unknown[]>;

/** Statements that open a reading of one moment; the limits of ordinary calls do not fit a long one. */
export const SNAPSHOT = [
  'set transaction isolation level repeatable read, read only',
  'set local statement_timeout = 0',
  'set local idle_in_transaction_session_timeout = 60000',
] as const;

const BATCH = 2_000;

/** Columns of an entry under the names the verifier and the presenter know them by. */
export const ENTRY_COLUMNS = `e.organization_id as "organizationId", e.chain, e.seq, e.id, e.event, e.agent_id as "agentId",
  e.actor_id as "actorId", e.capability, e.outcome, e."timestamp", e.payload, e.disclosures, e.prev_hash as "prevHash", e.hash`;

/** bigint arrives as text; a position never nears 2^53. */
export type Row<T> = Omit<T, 'seq'> & { seq: string };
export type EntryRow = Row<StoredEntry>;

export function numbered<T extends { seq: string }>(row: T): Omit<T, 'seq'> & { seq: number } {
  return { ...row, seq: Number(row.seq) };
}

/**
 * The log as the verifier reads it, by server-side cursors: memory stays the same however long the log is, and all
 * streams show the moment at which the transaction began. Text columns of all three are compared by code point.
 */
export function sqlLogSource(run: RunsSql, organizations: readonly string[] | 'all'): LogSource {
  let cursors = 0;
  const stream = async function* <T extends { seq: number }>(sql: string, parameters: readonly unknown[]): AsyncGenerator<T[]> {
    const cursor = `audit_reading_${++cursors}`;
    await run(`declare ${cursor} no scroll cursor for ${sql}`, parameters);
    for (;;) {
      const rows = (await run(`fetch ${BATCH} from ${cursor}`, [])) as Row<T>[];
      if (rows.length > 0) yield rows.map(numbered) as unknown as T[];
      if (rows.length < BATCH) return;
    }
  };
  const read = ({ organizationId, chain }: Selection): LogStreams => {
    const chosen = [organizations === 'all' ? null : organizations, organizationId ?? null, chain ?? null];
    return { heads: stream(HEADS, chosen), entries: stream(ENTRIES, chosen), leaves: stream(LEAVES, chosen) };
  };
  return { whole: organizations === 'all', read };
}

const HEADS = `
  select h.organization_id as "organizationId", h.chain, h.seq, h.hash from audit_heads h
  where ($1::text[] is null or h.organization_id = any ($1)) and ($2::text is null or h.organization_id = $2)
    and ($3::text is null or h.chain = $3)
  order by h.organization_id collate "C", h.chain collate "C"`;

const ENTRIES = `
  select ${ENTRY_COLUMNS} from audit_entries e
  where ($1::text[] is null or e.organization_id = any ($1)) and ($2::text is null or e.organization_id = $2)
    and ($3::text is null or e.chain = $3)
  order by e.organization_id collate "C", e.chain collate "C", e.seq`;

// What is integrated, in full tiles and in the tail behind them, and what is still queued: of one moment, so each leaf is there once.
const LEAVES = `
  select l.organization_id as "organizationId", l.chain, l.seq, l.hash from (
    select t.organization_id, leaf.chain, leaf.seq, encode(substring(t.hashes from (leaf.at::integer - 1) * 32 + 1 for 32), 'hex') as hash
    from audit_tree_leaves t cross join lateral unnest(t.chains, t.seqs) with ordinality as leaf(chain, seq, at)
    union all
    select t.organization_id, leaf.chain, leaf.seq, leaf.hash
    from audit_trees t cross join lateral unnest(t.tail_chains, t.tail_seqs, t.tail_hashes) as leaf(chain, seq, hash)
    union all
    select q.organization_id, leaf.chain, leaf.seq, leaf.hash
    from audit_tree_queue q cross join lateral unnest(q.chains, q.seqs, q.hashes) as leaf(chain, seq, hash)) l
  where ($1::text[] is null or l.organization_id = any ($1)) and ($2::text is null or l.organization_id = $2)
    and ($3::text is null or l.chain = $3)
  order by l.organization_id collate "C", l.chain collate "C", l.seq`;
