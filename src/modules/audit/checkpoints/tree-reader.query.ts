import { PLATFORM_TREE, type TreeHead } from '../../../domain/audit/notes/checkpoint.js';
import type { LeafRun, ShownTree } from '../../../domain/audit/integrity/log-source.js';
import { numbers, TILE_WIDTH, tiledHashReader, type HashReader, type TileSource } from '../../../domain/audit/tree/hash-reader.js';
import type { IndexedLeaf } from '../../../domain/audit/entry/stored-entry.js';
import { entryLeaf } from '../../../domain/audit/tree/tree-leaf.js';
import { leafHash } from '../../../domain/audit/tree/rfc6962.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { askable } from '../query/entry-rows.js';

// Trees as they are stored. Each function reads by single statements and bears that the tree grows meanwhile: full tiles never
// change, and what a reader was given of the tail stays right for the size that it was given for. For more than one tree of the
// same moment, run them in one transaction that stands still.

/** Leaves, in order. */
export interface LeafArrays {
  readonly chains: readonly string[];
  readonly seqs: readonly number[];
  readonly hashes: readonly string[];
}

interface TreeRow extends LeafArrays {
  readonly size: string;
  readonly root: string;
  readonly data: readonly string[];
}

interface LeafTileRow extends Omit<LeafArrays, 'hashes'> {
  readonly tile: string;
  /** Hex, 64 digits each. */
  readonly hashes: string;
}

interface TextTileRow {
  readonly tile: string;
  readonly data: readonly string[];
}

/** An array, of which only somebody else makes nothing. */
const listed = (column: string, name = column) => `coalesce(to_json(${column}), '[]') as ${name}`;
const textsIn = (column: string) => listed(`array_replace(${column}, null, '')`, 'data');
/** Leaves in three arrays; `$` stands for the beginning of their columns' names. */
export const LEAF_ARRAYS = ['chains', 'seqs', 'hashes'].map((name) => listed(`$${name}`, name)).join(', ');
const TILE_ARRAYS = `${listed('chains')}, ${listed('seqs')}, coalesce(encode(hashes, 'hex'), '') as hashes`;
const HEX_DIGITS = 64;
const TILES_AT_ONCE = 16;
/** What clocks of replicas and the time that an entry waits for its chain may come to. */
const SLACK_MS = 10_000;

/** How far a tree, an organization's or `platform`, has been integrated; undefined while nothing of it has. */
export async function treeHead(run: ReadStatement, tree: string): Promise<TreeHead | undefined> {
  const [row] = (await run('select size, root from audit_trees where organization_id = $1', [tree])) as { size: string; root: string }[];
  return row && { size: Number(row.size), root: row.root };
}

/** Reads a tree as it was when it had `size` leaves; it must have had so many. */
export function readerOf(run: ReadStatement, tree: string, size: number): HashReader {
  return tiledHashReader(size, tilesOf(run, tree, size));
}

/** Entries [from, to) of an organization, in the order of its tree, in batches. Ends where the tree ends. */
export async function* leavesOf(
  run: ReadStatement,
  organizationId: string,
  from = 0,
  to = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<readonly IndexedLeaf[], void, void> {
  const row = await treeRow(run, organizationId);
  if (!row) return;
  const end = Math.min(to, Number(row.size));
  const tiled = Number(row.size) - row.seqs.length;
  const within = (leaves: IndexedLeaf[]) => leaves.filter(({ index }) => index >= from && index < end);
  for (let tile = Math.floor(from / TILE_WIDTH); tile * TILE_WIDTH < Math.min(end, tiled); tile += TILES_AT_ONCE) {
    const last = Math.min(tile + TILES_AT_ONCE, Math.ceil(Math.min(end, tiled) / TILE_WIDTH));
    const tiles = await tilesAt<LeafTileRow>(run, organizationId, 0, TILE_ARRAYS, numbers(tile, last));
    yield within(tiles.flatMap((one) => indexed(arraysOf(one), Number(one.tile) * TILE_WIDTH)));
  }
  if (end > tiled) yield within(indexed(row, tiled));
}

/**
 * All leaves of an organization's tree as its tiles and its tail have them, in order: what is missing shows as a gap in `from`, and
 * ends nothing. For whoever believes nothing of it.
 */
export async function* leafRunsOf(run: ReadStatement, organizationId: string): AsyncGenerator<LeafRun, void, void> {
  const row = await treeRow(run, organizationId);
  for await (const { tile, ...arrays } of everyTile<LeafTileRow>(run, organizationId, TILE_ARRAYS)) {
    const from = Number(tile) * TILE_WIDTH;
    yield { from, leaves: indexed(arraysOf(arrays), from) };
  }
  if (row && row.seqs.length > 0) {
    const from = Number(row.size) - row.seqs.length;
    yield { from, leaves: indexed(row, from) };
  }
}

/** All leaves of the platform's tree as its tiles and its tail have them: as {@link leafRunsOf}. */
export async function* platformRunsOf(run: ReadStatement): AsyncGenerator<{ from: number; texts: readonly string[] }, void, void> {
  const row = await treeRow(run, PLATFORM_TREE);
  for await (const { tile, data } of everyTile<TextTileRow>(run, PLATFORM_TREE, textsIn('data'))) {
    yield { from: Number(tile) * TILE_WIDTH, texts: data };
  }
  if (row && row.data.length > 0) yield { from: Number(row.size) - row.data.length, texts: row.data };
}

/** The text of one leaf of the platform's tree. @throws RangeError where it has none */
export async function platformLeafAt(run: ReadStatement, at: number): Promise<string> {
  const row = await treeRow(run, PLATFORM_TREE);
  const tiled = row ? Number(row.size) - row.data.length : 0;
  const tile = at < tiled ? await platformTexts(run, [Math.floor(at / TILE_WIDTH)]) : undefined;
  const text = tile ? tile[0]![at % TILE_WIDTH] : row?.data[at - tiled];
  if (text === undefined) throw new RangeError(`the platform's tree has no leaf ${at}`);
  return text;
}

/**
 * Where an entry stands in its organization's tree; undefined while it is still queued, and of a position to which no chain can come.
 * It is looked for from the time on at which it was written, and everywhere else only when it is not there; a time that is none, which
 * only somebody else has put there, is the beginning of all.
 */
export async function leafPositionOf(
  run: ReadStatement,
  organizationId: string,
  { chain, seq, timestamp }: { readonly chain: string; readonly seq: number; readonly timestamp: string },
): Promise<number | undefined> {
  const row = await treeRow(run, organizationId);
  if (!row || askable(seq) === null) return undefined;
  const inTail = row.chains.findIndex((one, n) => one === chain && row.seqs[n] === seq);
  if (inTail >= 0) return Number(row.size) - row.seqs.length + inTail;
  const since = new Date(Math.max(0, Date.parse(timestamp) - SLACK_MS) || 0);
  for (const condition of ['integrated_at >= $4', 'integrated_at < $4']) {
    const [found] = (await run(positionStatement(condition), [organizationId, chain, seq, since])) as { tile: string; at: string }[];
    if (found) return Number(found.tile) * TILE_WIDTH + Number(found.at) - 1;
  }
  return undefined;
}

const positionStatement = (when: string) => `
  select l.tile, leaf.at from audit_tree_leaves l
  cross join lateral unnest(l.chains, l.seqs) with ordinality as leaf(chain, seq, at)
  where l.organization_id = $1 and l.${when} and $2 = any (l.chains) and leaf.chain = $2 and leaf.seq = $3
  limit 1`;

/** Names of all trees, the platform's too, with their heads. */
export async function treeHeads(run: ReadStatement): Promise<ShownTree[]> {
  const rows = (await run('select organization_id as tree, size, root from audit_trees order by organization_id', [])) as {
    tree: string; size: string; root: string;
  }[];
  return rows.map(({ tree, size, root }) => ({ tree, size: Number(size), root }));
}

/** Roots of full tiles at a tile level, 0 being that of the leaves. */
export async function tileRoots(run: ReadStatement, tree: string, level: number, tiles: readonly number[]): Promise<Uint8Array[]> {
  return (await tilesAt<{ tile: string; root: Buffer }>(run, tree, level, 'root', tiles)).map(({ root }) => root);
}

function tilesOf(run: ReadStatement, tree: string, size: number): TileSource {
  const isPlatform = tree === PLATFORM_TREE;
  const leaves = async (tiles: readonly number[]): Promise<Uint8Array[][]> =>
    isPlatform
      ? (await platformTexts(run, tiles)).map((data) => data.map(leafHash))
      : (await tilesAt<LeafTileRow>(run, tree, 0, TILE_ARRAYS, tiles)).map((tile) => hashesOf(arraysOf(tile)));
  return {
    tiles: async (level, indexes) => {
      if (level === 0) return (await leaves(indexes)).map((hashes) => Buffer.concat(hashes));
      return (await tilesAt<{ tile: string; hashes: Buffer }>(run, tree, level, 'hashes', indexes)).map(({ hashes }) => hashes);
    },
    roots: (level, indexes) => tileRoots(run, tree, level, indexes),
    tail: async () => {
      const count = size % TILE_WIDTH;
      if (count === 0) return [];
      const row = await treeRow(run, tree);
      if (!row || Number(row.size) < size) throw new RangeError(`the tree of ${tree} has no ${size} leaves`);
      const tile = Math.floor(size / TILE_WIDTH);
      const isStillTail = Math.floor(Number(row.size) / TILE_WIDTH) === tile;
      const hashes = isStillTail ? (isPlatform ? row.data.map(leafHash) : hashesOf(row)) : (await leaves([tile]))[0]!;
      return hashes.slice(0, count);
    },
  };
}

async function treeRow(run: ReadStatement, tree: string): Promise<TreeRow | undefined> {
  const [row] = (await run(
    `select size, root, ${LEAF_ARRAYS.replaceAll('$', 'tail_')}, ${textsIn('tail_data')} from audit_trees where organization_id = $1`,
    [tree],
  )) as TreeRow[];
  return row;
}

async function platformTexts(run: ReadStatement, tiles: readonly number[]): Promise<(readonly string[])[]> {
  return (await tilesAt<TextTileRow>(run, PLATFORM_TREE, 0, textsIn('data'), tiles)).map(({ data }) => data);
}

/** SQL of full tiles of a tree: those of leaves have a table, and the platform's another. */
function tilesOfLevel(tree: string, level: number, columns: string): string {
  if (level > 0) return `select tile, ${columns} from audit_tree_tiles where organization_id = $1 and level = ${level}`;
  if (tree === PLATFORM_TREE) return `select tile, ${columns} from audit_platform_leaves where $1::text is not null`;
  return `select tile, ${columns} from audit_tree_leaves where organization_id = $1`;
}

/** Tiles by their numbers, in that order. @throws RangeError where one is not there */
async function tilesAt<Row extends { readonly tile: string }>(
  run: ReadStatement, tree: string, level: number, columns: string, tiles: readonly number[],
): Promise<Row[]> {
  const rows = (await run(`${tilesOfLevel(tree, level, columns)} and tile = any ($2)`, [tree, tiles])) as Row[];
  const byTile = new Map(rows.map((row) => [Number(row.tile), row]));
  return tiles.map((tile) => {
    const row = byTile.get(tile);
    if (!row) throw new RangeError(`tile ${tile} is not there`);
    return row;
  });
}

/** All tiles of leaves that are there, in order. */
async function* everyTile<Row extends { readonly tile: string }>(
  run: ReadStatement, tree: string, columns: string,
): AsyncGenerator<Row, void, void> {
  const sql = `${tilesOfLevel(tree, 0, columns)} and tile > $2 order by tile limit $3`;
  for (let last: string | undefined = '-1'; last !== undefined; ) {
    const rows = (await run(sql, [tree, last, TILES_AT_ONCE])) as Row[];
    yield* rows;
    last = rows.length < TILES_AT_ONCE ? undefined : rows.at(-1)!.tile;
  }
}

function arraysOf({ chains, seqs, hashes }: Omit<LeafTileRow, 'tile'>): LeafArrays {
  return { chains, seqs, hashes: seqs.map((_, n) => hashes.slice(n * HEX_DIGITS, (n + 1) * HEX_DIGITS)) };
}

function indexed({ chains, seqs, hashes }: LeafArrays, first: number): IndexedLeaf[] {
  return seqs.map((seq, n) => ({ index: first + n, chain: chains[n]!, seq, hash: hashes[n]! }));
}

function hashesOf({ chains, seqs, hashes }: LeafArrays): Uint8Array[] {
  return seqs.map((seq, n) => leafHash(entryLeaf({ chain: chains[n]!, seq, hash: hashes[n]! })));
}
