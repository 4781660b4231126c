import {
  bitAt, EMPTY_SUBTREE, MAP_DEPTH, mapNode, type KeyedLeaf, type MapSibling,
} from '../../../src/domain/audit/tree/organization-map.js';

/** The root of the map in which the leaf stands beside these siblings; where no sibling is listed, nothing stands. */
export function mapRootOver({ key: place, hash: leaf }: KeyedLeaf, siblings: readonly MapSibling[]): Uint8Array {
  const beside = new Map(siblings);
  let hash = leaf;
  for (let depth = MAP_DEPTH - 1; depth >= 0; depth--) {
    const other = beside.get(depth) ?? EMPTY_SUBTREE;
    hash = bitAt(place, depth) === 0 ? mapNode(hash, other) : mapNode(other, hash);
  }
  return hash;
}
