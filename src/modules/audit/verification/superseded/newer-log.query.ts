import type { StoodChain } from '../../../../domain/audit/integrity/log-source.js';
import type { StoredEntry } from '../../../../domain/audit/entry/stored-entry.js';
import { MEASURED_COLUMNS } from '../../query/entry-rows.js';
import { streamed, type RunsSql } from '../../query/row-stream.query.js';
import { streamedEntries } from '../../query/streamed-entries.query.js';

/** Where each chain of an organization stood when its tree had this size; of chains that only rows know, too. */
export async function* stoodChains(run: RunsSql, organizationId: string, size: number): AsyncGenerator<StoodChain[]> {
  for await (const rows of streamed<StoodRow>(run, STOOD, [organizationId, size])) {
    yield rows.map(({ chain, seq, hash, next }) => ({ organizationId, chain, hash, seq: numberOf(seq), next: numberOf(next) }));
  }
}

/** Of the chains that went on: their entries from the last one before on. */
export function newerEntries(run: RunsSql, organizationId: string, size: number): AsyncIterable<StoredEntry[]> {
  return streamedEntries(run, NEWER_ENTRIES, [organizationId, size]);
}

interface StoodRow {
  readonly chain: string;
  readonly seq: string | null;
  readonly hash: string | null;
  readonly next: string | null;
}

function numberOf(text: string | null): number | null {
  return text === null ? null : Number(text);
}

// The first position of each chain that is newer: in tiles, in the tail behind them, in the queue.
const NEWER = `newer as (
  select l.chain collate "C" as chain, min(l.seq) as seq from (
    select leaf.chain, leaf.seq
    from audit_tree_leaves t cross join lateral unnest(t.chains, t.seqs) with ordinality as leaf(chain, seq, at)
    where t.organization_id = $1 and t.tile >= $2::bigint / 256 and t.tile * 256 + leaf.at > $2::bigint
    union all
    select leaf.chain, leaf.seq
    from audit_trees t cross join lateral unnest(t.tail_chains, t.tail_seqs) with ordinality as leaf(chain, seq, at)
    where t.organization_id = $1 and t.size - cardinality(t.tail_chains) + leaf.at > $2::bigint
    union all
    select leaf.chain, leaf.seq
    from audit_tree_queue q cross join lateral unnest(q.chains, q.seqs) as leaf(chain, seq)
    where q.organization_id = $1) l
  group by l.chain collate "C")`;

/** By steps of the key: one for each chain. */
const LAST_BEFORE = `lateral (
    select e.seq, e.hash from audit_entries e
    where e.organization_id = $1 and e.chain = c.chain and e.seq < coalesce(n.seq, 9223372036854775807)
    order by e.seq desc limit 1)`;

const STOOD = `
  with recursive ${NEWER}, standing as (
    (select e.chain from audit_entries e where e.organization_id = $1 order by e.chain limit 1)
    union all
    select (select e.chain from audit_entries e where e.organization_id = $1 and e.chain > s.chain order by e.chain limit 1)
    from standing s where s.chain is not null)
  select c.chain, b.seq, b.hash, n.seq as next
  from (
    select s.chain from standing s where s.chain is not null
    union select h.chain from audit_heads h where h.organization_id = $1
    union select w.chain from newer w) c
  left join newer n on n.chain = c.chain
  left join ${LAST_BEFORE} b on true
  order by c.chain`;

// Chain by chain, by the key: a plan that reads all of the index in order would read what is older, too.
const NEWER_ENTRIES = `
  with ${NEWER}
  select e.* from (
    select c.chain, coalesce(b.seq, n.seq) as first from newer c join newer n on n.chain = c.chain
    left join ${LAST_BEFORE} b on true
    order by c.chain offset 0) f
  cross join lateral (
    select ${MEASURED_COLUMNS} from audit_entries e
    where e.organization_id = $1 and e.chain = f.chain and e.seq >= f.first order by e.seq offset 0) e
  order by f.chain, e.seq`;
