import type { CheckpointTime, EntryRange, LogSource } from '../../../../domain/audit/integrity/log-source.js';
import { decodeTime } from '../../../../domain/audit/integrity/row-decoding.js';
import { PLATFORM_TREE } from '../../../../domain/audit/notes/checkpoint.js';
import type { StoredHead, StoredLeaf } from '../../../../domain/audit/entry/stored-entry.js';
import { mapKeyOf } from '../../../../domain/audit/tree/organization-map.js';
import type { ReadStatement } from '../../../../platform/audit/record-keepers.js';
import { readByCursor } from '../../../../platform/database/statements/read-by-cursor.js';
import { bounded } from '../../query/bounded-text.js';
import { recoveryPayloads, streamedEntries } from '../../query/entries.query.js';
import { MEASURED_COLUMNS, numbered, type Row } from '../../query/entry-rows.js';
import { authorizationNotes } from '../../keys/authorization-notes.store.js';
import { headerOf } from './log-header.query.js';
import { checkpointsOf } from '../../checkpoints/checkpoint.query.js';
import { MAP_NODES, mapHeadAt, mapNode, mapSourceOf, type MapNodeRow } from '../../checkpoints/map.query.js';
import { LEAF_ARRAYS, type LeafArrays, leafRunsOf, platformRunsOf } from '../../checkpoints/tree-reader.query.js';

const CHECKPOINTS_AT_ONCE = 1_000;

/**
 * The log as the verifier reads it: all streams show the moment at which the transaction began. Text columns are compared by
 * code point.
 */
export function sqlLogSource(run: ReadStatement, organizations: readonly string[] | 'all'): LogSource {
  const scope = organizations === 'all' ? null : organizations;
  const inScope = (some: readonly string[] | undefined) =>
    some === undefined ? scope : scope === null ? some : some.filter((one) => scope.includes(one));
  const bounds = ({ organizations: some, chains, from, to }: EntryRange) => [
    inScope(some), chains ?? null, from?.organizationId ?? null, from?.chain ?? null, to?.organizationId ?? null, to?.chain ?? null,
  ];
  const heads = async function* (range: EntryRange): AsyncGenerator<StoredHead[]> {
    for await (const rows of readByCursor<Row<StoredHead>>(run, within(HEADS, range), bounds(range))) yield rows.map(numbered);
  };
  return {
    whole: organizations === 'all',
    header: (agentId) => headerOf(run, scope, agentId),
    read: (range) => ({ heads: heads(range), entries: streamedEntries(run, within(ENTRIES, range), bounds(range)) }),
    leaves: (organizationId) => leafRunsOf(run, organizationId),
    queued: (some) => queued(run, inScope(some)),
    sorted: async function* (organizationId, chains) {
      const rows = readByCursor<Row<StoredLeaf>>(run, SORTED_LEAVES, [organizationId, chains ?? null]);
      for await (const some of rows) yield some.map(numbered);
    },
    platformLeaves: () => platformRunsOf(run),
    checkpoints: async function* (tree) {
      for (let after = -1; ; ) {
        const some = await checkpointsOf(run, tree, { after, limit: CHECKPOINTS_AT_ONCE });
        if (some.length > 0) yield some;
        if (some.length < CHECKPOINTS_AT_ONCE) return;
        after = some.at(-1)!.size;
      }
    },
    checkpointTimes: async function* () {
      for await (const rows of readByCursor<TimeRow>(run, CHECKPOINT_TIMES, [scope])) {
        yield rows.map((row) => ({ ...row, platformSize: Number(row.platformSize), madeAt: decodeTime(row.madeAt) ?? 'no time' }));
      }
    },
    erasureNotes: (organizationId, ids) => authorizationNotes(run, 'erasure', organizationId, ids),
    mapNodes: async function* () {
      for await (const rows of readByCursor<MapNodeRow>(run, MAP_NODES, [])) yield rows.map(mapNode);
    },
    mapHead: (organization) => mapHeadAt(run, mapKeyOf(organization)),
    recoveries: () => recoveryPayloads(run),
    mapContents: (keys) => mapSourceOf(run).contents(keys),
  };
}

type TimeRow = Omit<CheckpointTime, 'platformSize' | 'madeAt'> & { readonly platformSize: string; readonly madeAt: unknown };

type QueueRow = LeafArrays & { readonly organizationId: string };

async function* queued(run: ReadStatement, organizations: readonly string[] | null): AsyncGenerator<StoredLeaf[]> {
  for await (const rows of readByCursor<QueueRow>(run, QUEUE, [organizations])) {
    yield rows.flatMap(({ organizationId, chains, seqs, hashes }) =>
      seqs.map((seq, n) => ({ organizationId, chain: chains[n]!, seq, hash: hashes[n]! })));
  }
}

/** Parameters that a range does not need are named all the same, so that each has its type. */
function within(sql: string, { from, to }: EntryRange): string {
  const bounds = [
    from ? `(x.organization_id, x.chain) >= ($3::text collate "C", $4::text collate "C")` : '$3::text is null and $4::text is null',
    to ? `(x.organization_id, x.chain) < ($5::text collate "C", $6::text collate "C")` : '$5::text is null and $6::text is null',
  ];
  return sql.replace('$bounds', bounds.join(' and '));
}

const HEADS = `
  select ${bounded('x.organization_id')} as "organizationId", ${bounded('x.chain')} as chain, x.seq, ${bounded('x.hash')} as hash,
    x.closed_at is not null as closed
  from audit_heads x
  where ($1::text[] is null or x.organization_id = any ($1)) and ($2::text[] is null or x.chain = any ($2)) and $bounds
  order by x.organization_id, x.chain`;

const ENTRIES = `
  select ${MEASURED_COLUMNS.replaceAll('e.', 'x.')} from audit_entries x
  where ($1::text[] is null or x.organization_id = any ($1)) and ($2::text[] is null or x.chain = any ($2)) and $bounds
  order by x.organization_id, x.chain, x.seq`;

const QUEUE = `
  select q.organization_id as "organizationId", ${LEAF_ARRAYS.replaceAll('$', 'q.')}
  from audit_tree_queue q where $1::text[] is null or q.organization_id = any ($1)
  order by q.organization_id, q.id`;

// A round gives all its checkpoints one time, so that there is about one row for each leaf of the platform's tree.
const CHECKPOINT_TIMES = `
  select min(c.organization_id) as tree, c.platform_size as "platformSize", c.made_at as "madeAt" from audit_checkpoints c
  where $1::text[] is null or c.organization_id = any ($1) or c.organization_id = '${PLATFORM_TREE}'
  group by c.platform_size, c.made_at order by c.platform_size, c.made_at`;

// What is integrated, in full tiles and in the tail behind them, and what is still queued: of one moment, so each leaf is there once.
const SORTED_LEAVES = `
  select $1::text as "organizationId", l.chain, l.seq, l.hash from (
    select leaf.chain, leaf.seq, encode(substring(t.hashes from (leaf.at::integer - 1) * 32 + 1 for 32), 'hex') as hash
    from audit_tree_leaves t cross join lateral unnest(t.chains, t.seqs) with ordinality as leaf(chain, seq, at)
    where t.organization_id = $1
    union all
    select leaf.chain, leaf.seq, leaf.hash
    from audit_trees t cross join lateral unnest(t.tail_chains, t.tail_seqs, t.tail_hashes) as leaf(chain, seq, hash)
    where t.organization_id = $1
    union all
    select leaf.chain, leaf.seq, leaf.hash
    from audit_tree_queue q cross join lateral unnest(q.chains, q.seqs, q.hashes) as leaf(chain, seq, hash)
    where q.organization_id = $1) l
  where $2::text[] is null or l.chain = any ($2)
  order by l.chain collate "C", l.seq`;
