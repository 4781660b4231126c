import { EMPTY_SUBTREE, MAP_DEPTH, nodeOnPath, type KeyedLeaf, type MapSibling } from '../../../src/domain/audit/tree/organization-map.js';
import { sameHash } from '../../../src/domain/audit/tree/rfc6962.js';

/** The root of the map in which the leaf stands beside these siblings; where no sibling is listed, nothing stands. */
export function mapRootOver({ key, hash: leaf }: KeyedLeaf, siblings: readonly MapSibling[]): Uint8Array {
  const beside = new Map(siblings);
  let hash = leaf;
  for (let depth = MAP_DEPTH - 1; depth >= 0; depth--) {
    const other = beside.get(depth) ?? EMPTY_SUBTREE;
    // Two empty halves are empty together.
    if (![hash, other].every((one) => sameHash(one, EMPTY_SUBTREE))) hash = nodeOnPath(key, depth, hash, other);
  }
  return hash;
}
