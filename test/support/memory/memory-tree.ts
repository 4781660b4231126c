import { TILE_WIDTH, tileRoot, type HashReader, type TileSource } from '../../../src/domain/audit/tree/hash-reader.js';
import { EMPTY_ROOT, nodeHash } from '../../../src/domain/audit/tree/rfc6962.js';

/** The root as RFC 6962, section 2.1, defines it, word for word. */
export function naiveRoot(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return EMPTY_ROOT;
  if (leaves.length === 1) return leaves[0]!;
  let middle = 1;
  while (middle * 2 < leaves.length) middle *= 2;
  return nodeHash(naiveRoot(leaves.slice(0, middle)), naiveRoot(leaves.slice(middle)));
}

/** Reads subtree roots from nothing but the leaves. */
export function leavesReader(leaves: readonly Uint8Array[]): HashReader {
  return {
    read: (level, indexes) => {
      const width = 2 ** level;
      return Promise.resolve(
        indexes.map((index) => {
          const below = leaves.slice(index * width, (index + 1) * width);
          if (below.length !== width) throw new RangeError(`no subtree ${index} at level ${level}`);
          return naiveRoot(below);
        }),
      );
    },
  };
}

/** A tree's leaves as full tiles and a tail, the way they are stored. `reads` counts the tiles that were asked for. */
export function tilesOf(leaves: readonly Uint8Array[]): TileSource & { reads: number } {
  const levels: Uint8Array[][] = [];
  for (let hashes = leaves; hashes.length >= TILE_WIDTH; ) {
    const tiles: Uint8Array[] = [];
    for (let at = 0; at + TILE_WIDTH <= hashes.length; at += TILE_WIDTH) tiles.push(Buffer.concat(hashes.slice(at, at + TILE_WIDTH)));
    levels.push(tiles);
    hashes = tiles.map(tileRoot);
  }
  const source = {
    reads: 0,
    tiles: (level: number, indexes: readonly number[]) => {
      source.reads += indexes.length;
      return Promise.resolve(
        indexes.map((index) => {
          const tile = levels[level]?.[index];
          if (!tile) throw new RangeError(`no full tile ${index} at tile level ${level}`);
          return tile;
        }),
      );
    },
    tail: () => Promise.resolve(leaves.slice(leaves.length - (leaves.length % TILE_WIDTH))),
  };
  return source;
}
