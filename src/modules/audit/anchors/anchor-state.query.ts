import type { TreeHead } from '../../../domain/audit/notes/checkpoint.js';
import { waivedCheckpointIn } from '../../../domain/audit/notes/waived-checkpoint.js';
import { readVerifierKey } from '../../../domain/audit/notes/note.js';
import { readEntry } from '../../../domain/audit/entry/read-entry.js';
import type { Anchored } from '../../../platform/audit/anchor.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { recoveryPayloads } from '../query/entries.query.js';
import { rootAt } from '../proofs/proof.query.js';

/** How far anchoring has come, and whether something speaks against serving. */
export interface AnchorState {
  readonly instance: string;
  readonly now: Date;
  /** Why the database is in maintenance mode: it was restored, is being recovered, or was found to be rewritten. */
  readonly maintenanceBecause: string | null;
  readonly recoveredAt: Date | null;
  /** By which the signing key says so. */
  readonly recoveredNote: string | null;
  readonly newest: TreeHead | undefined;
  /** Rises with every commit that appends; by it one knows that there are entries which no checkpoint has yet. */
  readonly commits: number;
  /** When the oldest checkpoint was made that the anchors do not have. */
  readonly unanchoredSince: Date | null;
  /** The servers on this database. */
  readonly replicas: number;
}

/**
 * In one statement by keys, since every server asks it every second.
 *
 * @param anchored up to which size all anchors have the tree
 */
export async function anchorState(run: ReadStatement, anchored: number): Promise<AnchorState> {
  const [row] = (await run(
    `select i.name as instance, clock_timestamp() as now, i.held_because as "maintenanceBecause", i.recovered_at as "recoveredAt",
       i.recovered_note as "recoveredNote", newest.size, newest.root,
       coalesce(pg_sequence_last_value(pg_get_serial_sequence('audit_tree_queue', 'id')::regclass), 0) as commits,
       (select c.made_at from audit_checkpoints c where c.organization_id = 'platform' and c.size > $1
        order by c.size limit 1) as "unanchoredSince",
       (select count(*)::integer from pg_stat_activity
        where datname = current_database() and application_name = 'countersign leader') as replicas
     from instance i left join lateral (
       select c.size, c.root from audit_checkpoints c where c.organization_id = 'platform' order by c.size desc limit 1) newest on true`,
    [anchored],
  )) as (Omit<AnchorState, 'newest' | 'commits'> & { size: string | null; root: string | null; commits: string })[];
  if (!row) throw new Error('this database was never set up');
  const { size, root, commits, ...state } = row;
  return { ...state, commits: Number(commits), newest: size === null || root === null ? undefined : { size: Number(size), root } };
}

/** Whether this database has the checkpoint: one that was put back has a smaller tree, one that went on from there another root. */
export async function stillHas(run: ReadStatement, { size, root }: TreeHead): Promise<boolean> {
  const [row] = (await run(
    `select (select c.root from audit_checkpoints c where c.organization_id = 'platform' and c.size = $1) as root,
       (select t.size from audit_trees t where t.organization_id = 'platform') as size`,
    [size],
  )) as { root: string | null; size: string | null }[];
  if (typeof row?.root === 'string') return row.root === root;
  // Old checkpoints are thinned out; the tree that they were of is not.
  return Number(row?.size ?? 0) >= size && (await rootAt(run, size)) === root;
}

/**
 * What was given up by recoveries: each names the checkpoint that an anchor had and this database has not. Only with a signature of this
 * key: anybody who may append can say so.
 *
 * @param verifierKey its public half as C2SP text
 */
export async function acceptedLosses(run: ReadStatement, instance: string, verifierKey: string): Promise<Anchored[]> {
  const key = readVerifierKey(verifierKey)!;
  return (await recoveryPayloads(run)).flatMap((payload) => {
    const { metadata } = readEntry({ payload, disclosures: '[]' });
    const lost = waivedCheckpointIn(metadata['lost'], instance, [key]);
    if (!lost) return [];
    return [lost.root === '' ? { size: lost.size } : lost];
  });
}
