import type { ChainRef } from '../../../../domain/audit/entry/chain.js';
import type { EntryRange, LogHeader, SharedChain, CutPointRow, ShownTree } from '../../../../domain/audit/integrity/log-source.js';
import { noteIn, decodeRetentionRun } from '../../../../domain/audit/integrity/row-decoding.js';
import type { ReadStatement } from '../../../../platform/audit/record-keepers.js';
import { readByCursor } from '../../../../platform/database/statements/read-by-cursor.js';
import { IN_HEADS } from '../../query/organizations.query.js';
import { instanceName, verifierKeys } from '../../checkpoints/checkpoint.query.js';
import { treeHeads } from '../../checkpoints/tree-reader.query.js';

/** About as many entries are given to one thread at a time. */
const ENTRIES_PER_RANGE = 40_000;
/** So that chains without many entries make no endless range. */
const CHAINS_PER_RANGE = 20_000;

/**
 * What is known of the log before it is read.
 *
 * @param scope organizations that are shown; null for all
 */
export async function headerOf(run: ReadStatement, scope: readonly string[] | null, agentId: string | undefined): Promise<LogHeader> {
  const instance = await instanceName(run);
  const keys = await verifierKeys(run);
  const organizations = agentId === undefined ? await organizationsIn(run, scope) : await organizationsHolding(run, scope, agentId);
  const wanted = new Set([...organizations, 'platform']);
  const grown = (await treeHeads(run)).filter(({ tree }) => wanted.has(tree));
  const isGrown = new Set(grown.map(({ tree }) => tree));
  const gone = agentId === undefined ? await treesGone(run, (scope ?? organizations).filter((id) => !isGrown.has(id))) : [];
  const trees = [...grown, ...gone];
  const { cutPoints, unreadable } = await cutPointsIn(run, organizations);
  const { ranges, total } =
    agentId === undefined ? await rangesOf(run, scope) : { ranges: [{ organizations, chains: [agentId] }], total: 0 };
  const shared = scope === null ? await sharedChains(run, agentId) : [];
  // An organization that was asked for may be gone without a trace in these tables; the signed map shows that.
  const known = scope === null || agentId !== undefined ? organizations : [...new Set(scope)].sort();
  return { instance, keys, trees, cutPoints, unreadable, organizations: known, ranges, shared, total };
}

async function organizationsIn(run: ReadStatement, scope: readonly string[] | null): Promise<string[]> {
  const rows = (await run(
    `select distinct id from (${NAMED_IN}
       union all select t.organization_id from audit_trees t) found
     where id <> 'platform' and ($1::text[] is null or id = any ($1))`,
    [scope],
  )) as { id: string }[];
  return rows.map(({ id }) => id).sort();
}

/**
 * Trees that are gone with all that grew in them, or were never there: their checkpoints say that they were. A sound log has none.
 *
 * @param missing organizations of which no tree is there
 */
async function treesGone(run: ReadStatement, missing: readonly string[]): Promise<ShownTree[]> {
  if (missing.length === 0) return [];
  const rows = (await run(
    `select distinct on (c.organization_id) c.organization_id as tree, c.size, c.root from audit_checkpoints c
     where c.organization_id = any ($1) order by c.organization_id, c.size desc`,
    [missing],
  )) as { tree: string; size: string; root: string }[];
  return rows.map(({ size, ...rest }) => ({ ...rest, size: Number(size) }));
}

const NAMED_IN = ['heads', 'entries', 'tree_leaves', 'tree_queue', 'checkpoints']
  .map((table) => `(${IN_HEADS.replaceAll('audit_heads', `audit_${table}`)})`).join(' union all ');

/**
 * Those in which anything says that the agent was there: its head, an entry, a leaf.
 *
 * @param scope organizations that are shown; null for all
 */
async function organizationsHolding(run: ReadStatement, scope: readonly string[] | null, agentId: string): Promise<string[]> {
  const rows = (await run(
    `select o.id from unnest($1::text[]) as o(id) where
       exists (select from audit_heads h where h.organization_id = o.id and h.chain = $2)
       or exists (select from audit_entries e where e.organization_id = o.id and e.chain = $2)
       or exists (select from audit_tree_leaves l where l.organization_id = o.id and $2 = any (l.chains))
       or exists (select from audit_trees t where t.organization_id = o.id and $2 = any (t.tail_chains))
       or exists (select from audit_tree_queue q where q.organization_id = o.id and $2 = any (q.chains))
     order by o.id collate "C"`,
    [await organizationsIn(run, scope), agentId],
  )) as { id: string }[];
  return rows.map(({ id }) => id);
}

/** Whether anything in these organizations names the chain. A head, which is there as a rule, is one look into an index. */
export async function isChainNamed(run: ReadStatement, scope: readonly string[] | null, chain: string): Promise<boolean> {
  const heads = await run(
    'select 1 from audit_heads h where h.chain = $1 and ($2::text[] is null or h.organization_id = any ($2)) limit 1', [chain, scope],
  );
  return heads.length > 0 || (await organizationsHolding(run, scope, chain)).length > 0;
}

/** Heads are the smallest of what the log has; the database groups them, on disk where they are many. */
async function sharedChains(run: ReadStatement, agentId: string | undefined): Promise<SharedChain[]> {
  return (await run(
    `select h.chain, to_json(array_agg(h.organization_id order by h.organization_id)) as organizations from audit_heads h
     where h.seq > 0 and h.chain like 'agt\\_%' and ($1::text is null or h.chain = $1)
     group by h.chain having count(*) > 1 order by h.chain`,
    [agentId ?? null],
  )) as SharedChain[];
}

interface RetentionRunRow extends Readonly<Record<'cuts' | 'checkpoint' | 'notes', unknown>> {
  readonly organizationId: string;
  readonly entryId: string | null;
  readonly isDone: boolean;
}

/** Of each chain the newest cut: a later retention run lists again what still binds. */
export async function cutPointsIn(
  run: ReadStatement, organizations: readonly string[],
): Promise<{ cutPoints: CutPointRow[]; unreadable: string[] }> {
  const runs = (await run(
    `select s.organization_id as "organizationId", s.entry_id as "entryId", s.state = 'done' as "isDone", s.cuts, s.checkpoint, s.notes
     from audit_sweeps s where s.organization_id = any ($1) and s.state in ('recorded', 'done') order by s.made_at, s.id`,
    [organizations],
  )) as RetentionRunRow[];
  const newest = new Map<string, CutPointRow>();
  const unreadable: string[] = [];
  for (const { organizationId, entryId, isDone, ...row } of runs) {
    const { cuts, notes, isReadable, checkpoint: { size, root, platformSize, platformRoot } } = decodeRetentionRun(row);
    const checkpoint = { size, root, platformSize, platformRoot };
    if (!isReadable) unreadable.push(organizationId);
    for (const { chain, seq, hash, count, sweepEntryId = entryId ?? '' } of cuts) {
      const note = noteIn(notes, sweepEntryId);
      const cutPoint = { organizationId, chain, seq, hash, count, sweepEntryId, note, checkpoint, isDone };
      if ((newest.get(`${organizationId} ${chain}`)?.seq ?? 0) <= seq) newest.set(`${organizationId} ${chain}`, cutPoint);
    }
  }
  return { cutPoints: [...newest.values()], unreadable };
}

/** Cuts the log between chains into parts of about the same size. The first has no beginning and the last no end. */
async function rangesOf(run: ReadStatement, scope: readonly string[] | null): Promise<{ ranges: EntryRange[]; total: number }> {
  const ranges: EntryRange[] = [];
  let from: ChainRef | undefined;
  let [total, entries, chains] = [0, 0, 0];
  const heads = readByCursor<{ organizationId: string; chain: string; seq: string }>(
    run,
    `select h.organization_id as "organizationId", h.chain, h.seq from audit_heads h
     where $1::text[] is null or h.organization_id = any ($1) order by h.organization_id, h.chain`,
    [scope],
  );
  for await (const rows of heads) {
    for (const { organizationId, chain, seq } of rows) {
      const to = { organizationId, chain };
      if (entries > 0 && (entries + Number(seq) > ENTRIES_PER_RANGE || chains >= CHAINS_PER_RANGE)) {
        ranges.push({ ...(from ? { from } : {}), to });
        [from, entries, chains] = [to, 0, 0];
      }
      entries += Number(seq);
      total += Number(seq);
      chains++;
    }
  }
  return { ranges: [...ranges, from ? { from } : {}], total };
}
