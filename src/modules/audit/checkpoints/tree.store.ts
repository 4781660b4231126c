import { PLATFORM_TREE } from '../../../domain/audit/notes/checkpoint.js';
import { numbers, TILE_WIDTH, tileRoot } from '../../../domain/audit/tree/hash-reader.js';
import { EMPTY_ROOT, hashText } from '../../../domain/audit/tree/rfc6962.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { type LeafArrays, tileRoots } from './tree-reader.query.js';

// What the leader writes of the trees, each function within one of its transactions. Heads move by compare-and-set on their size:
// whoever led meanwhile has won.

/** Leaves of one commit and organization. */
export interface QueuedLeaves extends LeafArrays {
  readonly organizationId: string;
  readonly id: string;
}

export interface LeafRows {
  readonly chains: string[];
  readonly seqs: number[];
  readonly hashes: string[];
}

/** A tree's growth by one round. */
export interface Growth {
  readonly organizationId: string;
  readonly from: number;
  readonly size: number;
  /** Base64. */
  readonly root: string;
  /** Tiles that are full now, without what the tail holds of the first, each with its root in hex. */
  readonly tiles: readonly (LeafRows & { readonly tile: number; readonly root: string })[];
  /** Leaves right of the last full tile; without full tiles they come behind the tail, else instead of the tail. */
  readonly tail: LeafRows;
}

/** The tree is not of the size that this process knows: another leader has grown it. */
export class TreeMoved extends Error {
  override readonly name = 'TreeMoved';

  constructor() {
    super('a tree has been grown by another leader');
  }
}

/** The planner, misled by what it knew of a queue that has been empty for long, must not read all of it. */
export async function lookUpByKeys(run: RunStatement): Promise<void> {
  await run(
    `select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
       set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true)`,
    [],
  );
}

/** By the key, which passes over what was deleted since the last vacuum faster than the rows do. */
export async function isQueueEmpty(run: RunStatement): Promise<boolean> {
  const [row] = await run('select not exists (select from audit_tree_queue order by organization_id, id limit 1) as empty', []);
  return row!.empty === true;
}

/** Organizations in turn, from the one behind `after` on, and the leaves of each in the order of their commits. */
export async function takeQueued(
  run: RunStatement, after: string, { rows, leaves }: { readonly rows: number; readonly leaves: number },
): Promise<QueuedLeaves[]> {
  return (await run(TAKE, [after, rows, leaves])) as unknown as QueuedLeaves[];
}

/** @throws TreeMoved */
export async function growTrees(run: RunStatement, growths: readonly Growth[]): Promise<void> {
  const begun = growths.filter(({ from }) => from === 0).map(({ organizationId }) => organizationId);
  if (begun.length > 0) await run(BEGIN, [begun, hashText(EMPTY_ROOT)]);
  const tiles = growths.flatMap(({ organizationId, from, tiles: full }) =>
    full.map((tile, n) => ({ organization_id: organizationId, from, is_first: n === 0, ...tile })));
  if (tiles.length > 0) expect(await run(WRITE_TILES, [JSON.stringify(tiles)]), tiles.length);
  const heads = growths.map(({ organizationId, from, size, root, tiles: full, tail }) =>
    ({ organization_id: organizationId, from, size, root, is_new_tail: full.length > 0, ...tail }));
  expect(await run(MOVE_HEADS, [JSON.stringify(heads)]), heads.length);
  for (const { organizationId, from, size } of growths) await writeUpperTiles(run, organizationId, from, size);
}

/** Takes away exactly what was taken: an older row may have been committed meanwhile, and is of a later round. */
export async function leaveQueue(run: RunStatement, taken: readonly QueuedLeaves[]): Promise<void> {
  const parameters = [taken.map(({ organizationId }) => organizationId), taken.map(({ id }) => id)];
  expect(await run(LEAVE, parameters), taken.length);
}

/** One leaf of the platform's tree. `tileRoot` stands, in hex, when its tile is full with it. */
export interface PlatformGrowth {
  readonly from: number;
  readonly root: string;
  readonly data: string;
  readonly tileRoot?: string;
}

/** @throws TreeMoved */
export async function growPlatform(run: RunStatement, { from, root, data, tileRoot: full }: PlatformGrowth): Promise<void> {
  if (from === 0) await run(BEGIN, [[PLATFORM_TREE], hashText(EMPTY_ROOT)]);
  if (full !== undefined) {
    const tile = (from + 1) / TILE_WIDTH - 1;
    expect(await run(WRITE_PLATFORM_TILE, [PLATFORM_TREE, from, tile, data, full]), 1);
  }
  expect(await run(MOVE_PLATFORM, [PLATFORM_TREE, from, root, data, full !== undefined]), 1);
  await writeUpperTiles(run, PLATFORM_TREE, from, from + 1);
}

/** Tiles of the levels above the leaves that are full now. */
async function writeUpperTiles(run: RunStatement, tree: string, from: number, to: number): Promise<void> {
  for (let level = 1; ; level++) {
    const leaves = TILE_WIDTH ** (level + 1);
    const first = Math.floor(from / leaves);
    const end = Math.floor(to / leaves);
    if (first === end) return;
    for (let tile = first; tile < end; tile++) {
      const hashes = Buffer.concat(await tileRoots(run, tree, level - 1, numbers(tile * TILE_WIDTH, (tile + 1) * TILE_WIDTH)));
      await run(
        'insert into audit_tree_tiles (organization_id, level, tile, hashes, root) values ($1, $2, $3, $4, $5)',
        [tree, level, tile, hashes, Buffer.from(tileRoot(hashes))],
      );
    }
  }
}

function expect(rows: readonly unknown[], count: number): void {
  if (rows.length !== count) throw new TreeMoved();
}

const TAKE = `
  select q.organization_id as "organizationId", q.id, to_json(q.chains) as chains, to_json(q.seqs) as seqs, to_json(q.hashes) as hashes
  from (
    select next.*, sum(cardinality(next.hashes)) over (order by next.organization_id, next.id) - cardinality(next.hashes) as before
    from (select * from audit_tree_queue where organization_id > $1 order by organization_id, id limit $2) next) q
  where q.before < $3 order by q.organization_id, q.id`;

const BEGIN = `
  insert into audit_trees (organization_id, root, integrated_at) select unnest($1::text[]), $2, clock_timestamp()
  on conflict do nothing`;

const WRITE_TILES = `
  insert into audit_tree_leaves (organization_id, tile, chains, seqs, hashes, root, integrated_at)
  select g.organization_id, g.tile,
    case when g.is_first then t.tail_chains || g.chains else g.chains end,
    case when g.is_first then t.tail_seqs || g.seqs else g.seqs end,
    decode(case when g.is_first then array_to_string(t.tail_hashes, '') else '' end || array_to_string(g.hashes, ''), 'hex'),
    decode(g.root, 'hex'), clock_timestamp()
  from json_to_recordset($1::json) as g(
    organization_id text, "from" bigint, is_first boolean, tile bigint, chains text[], seqs bigint[], hashes text[], root text)
  join audit_trees t on t.organization_id = g.organization_id and t.size = g."from"
  returning tile`;

const MOVE_HEADS = `
  update audit_trees t set size = g.size, root = g.root, integrated_at = clock_timestamp(),
    tail_chains = case when g.is_new_tail then g.chains else t.tail_chains || g.chains end,
    tail_seqs = case when g.is_new_tail then g.seqs else t.tail_seqs || g.seqs end,
    tail_hashes = case when g.is_new_tail then g.hashes else t.tail_hashes || g.hashes end
  from json_to_recordset($1::json) as g(
    organization_id text, "from" bigint, size bigint, root text, is_new_tail boolean, chains text[], seqs bigint[], hashes text[])
  where t.organization_id = g.organization_id and t.size = g."from"
  returning t.size`;

const LEAVE = `
  delete from audit_tree_queue q using unnest($1::text[], $2::bigint[]) as taken(organization_id, id)
  where q.organization_id = taken.organization_id and q.id = taken.id returning q.id`;

const WRITE_PLATFORM_TILE = `
  insert into audit_platform_leaves (tile, data, root)
  select $3, t.tail_data || $4::text, decode($5, 'hex') from audit_trees t where t.organization_id = $1 and t.size = $2
  returning tile`;

const MOVE_PLATFORM = `
  update audit_trees set size = size + 1, root = $3, integrated_at = clock_timestamp(),
    tail_data = case when $5 then '{}' else tail_data || $4::text end
  where organization_id = $1 and size = $2 returning size`;
