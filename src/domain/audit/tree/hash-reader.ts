import { getOrInsert } from '../../collections.js';
import { HASH_BYTES, nodeHash } from './rfc6962.js';

/** Gives the roots of complete subtrees within the tree: index n at level l is over the leaves from n · 2^l on, 2^l in number. */
export interface HashReader {
  read(level: number, indexes: readonly number[]): Promise<readonly Uint8Array[]>;
}

/** Hashes of a full tile, and the leaves below one hash of the next level of tiles. */
export const TILE_WIDTH = 256;
const TILE_HEIGHT = 8;

/**
 * A tree as stored: at tile level t, full tile n holds 256 roots of subtrees of 256^t leaves, 8,192 bytes. Full tiles never change. Right
 * of the last full tile only leaves are stored.
 */
export interface TileSource {
  /** Full tiles, in the order asked for. */
  tiles(level: number, indexes: readonly number[]): Promise<readonly Uint8Array[]>;
  /** Roots of full tiles, for a source that knows them already; else they are computed from the tiles. */
  roots?(level: number, indexes: readonly number[]): Promise<readonly Uint8Array[]>;
  /** Leaf hashes right of the last full tile of leaves: size mod 256. */
  tail(): Promise<readonly Uint8Array[]>;
}

/** Reads subtree roots from stored tiles; right edges are recomputed from the level below. For one proof: it keeps all tiles. */
export function tiledHashReader(size: number, source: TileSource): HashReader {
  const edges = new Map<number, Promise<readonly Uint8Array[]>>();
  const kept = new Map<string, readonly Uint8Array[]>();

  const hashesAt = (level: number) => Math.floor(size / TILE_WIDTH ** level);

  const edgeOf = (level: number) => getOrInsert(edges, level, () => computeEdge(level));

  const computeEdge = async (level: number): Promise<readonly Uint8Array[]> => {
    if (level === 0) return source.tail();
    const count = hashesAt(level);
    const below = numbers(count - (count % TILE_WIDTH), count);
    if (below.length === 0) return [];
    if (source.roots) return source.roots(level - 1, below);
    return (await source.tiles(level - 1, below)).map(tileRoot);
  };

  const keep = async (level: number, tiles: readonly number[]): Promise<void> => {
    const missing = tiles.filter((tile) => !kept.has(`${level} ${tile}`));
    if (missing.length === 0) return;
    const found = await source.tiles(level, missing);
    for (const [n, tile] of missing.entries()) kept.set(`${level} ${tile}`, splitTile(found[n]!));
  };

  return {
    async read(level, indexes) {
      const tileLevel = Math.floor(level / TILE_HEIGHT);
      const span = 2 ** (level - tileLevel * TILE_HEIGHT);
      const fullTiles = Math.floor(hashesAt(tileLevel) / TILE_WIDTH);
      const tileOf = (index: number) => Math.floor((index * span) / TILE_WIDTH);
      const wanted = [...new Set(indexes.map(tileOf))];
      await keep(tileLevel, wanted.filter((tile) => tile < fullTiles));
      const edge = wanted.includes(fullTiles) ? await edgeOf(tileLevel) : [];
      return indexes.map((index) => {
        const tile = tileOf(index);
        const from = (index * span) % TILE_WIDTH;
        const hashes = (tile === fullTiles ? edge : kept.get(`${tileLevel} ${tile}`))?.slice(from, from + span);
        if (hashes?.length !== span) throw new RangeError(`a tree of ${size} has no subtree ${index} at level ${level}`);
        return rootOfComplete(hashes);
      });
    },
  };
}

/** Root over the 256 hashes of a full tile. */
export function tileRoot(tile: Uint8Array): Uint8Array {
  return rootOfComplete(splitTile(tile));
}

/** Cuts hashes that stand one after another. */
export function splitTile(tile: Uint8Array): Uint8Array[] {
  return numbers(0, tile.length / HASH_BYTES).map((n) => tile.subarray(n * HASH_BYTES, (n + 1) * HASH_BYTES));
}

/** Root of 2^n subtrees of one size. */
function rootOfComplete(hashes: readonly Uint8Array[]): Uint8Array {
  let level = hashes;
  while (level.length > 1) {
    const above: Uint8Array[] = [];
    for (let i = 0; i < level.length; i += 2) above.push(nodeHash(level[i]!, level[i + 1]!));
    level = above;
  }
  return level[0]!;
}

/** The whole numbers [from, to). */
export function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, n) => from + n);
}
