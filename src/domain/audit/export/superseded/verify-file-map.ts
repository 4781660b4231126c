import { findingInTree, type Finding } from '../../integrity/findings.js';
import { PLATFORM_TREE, type Checkpoint } from '../../notes/checkpoint.js';
import type { LineOf } from '../export-lines.js';
import { platformLeaf } from '../../tree/tree-leaf.js';
import {
  bitAt, EMPTY_SUBTREE, MAP_DEPTH, mapNode, mapKeyOf, mapRoot, partingOf, keyedLeaf, subtreeRoot, type OrganizationHead, type KeyedLeaf,
} from '../../tree/organization-map.js';
import { checkInclusion } from '../../tree/tree-proofs.js';
import { hashText, leafHash, readHash, sameHash } from '../../tree/rfc6962.js';

/** What an export's lines `map` have shown: the map in the newest leaf of the platform's tree. */
export interface Mapped {
  /** The organization that was shown in it, or not to be in it. */
  readonly id: string;
  readonly map: string;
  readonly timestamp: string;
}

/**
 * The map that a line shows, if it carries the organization as its checkpoint says, or nothing of it where there is no checkpoint. Only
 * the newest leaf counts: an older map was rightly without whoever came later.
 */
export function shownMap(line: LineOf<'map'>, own: Checkpoint | undefined, all: Checkpoint | undefined): Mapped | undefined {
  const { organizationId: id, size, root, siblings, timestamp, platform } = line;
  const map = hashText(rootBeside({ organization: id, size, root }, siblings));
  const isOwn = own ? own.size === size && own.root === root : size === 0;
  if (!isOwn || all?.size !== platform.size || platform.index !== platform.size - 1) return undefined;
  const hashes = platform.hashes.map((hash) => readHash(hash)!);
  const isIn = checkInclusion(leafHash(platformLeaf({ map, timestamp })), platform.index, platform.size, hashes, readHash(all.root)!);
  return isIn ? { id, map, timestamp } : undefined;
}

/** Lines whose nodes are looked at one by one: whoever spoils more need not be told of all. */
const LOOKED_AT = 20;

/** A file of all organizations has every one of which anything was signed. */
export function* againstFileMap(
  checkpoints: ReadonlyMap<string, Checkpoint>, mapped: Mapped | undefined, misled: readonly LineOf<'map'>[],
): Generator<Finding> {
  const platform = checkpoints.get(PLATFORM_TREE);
  if (!platform) return;
  const heads = [...checkpoints].filter(([tree]) => tree !== PLATFORM_TREE);
  const leaves = heads.map(([organization, { size, root }]) => ({ organization, ...keyedLeaf({ organization, size, root }) }));
  for (const line of misled.slice(0, LOOKED_AT)) yield* wronglyBeside(line, leaves);
  if (hashText(mapRoot(leaves)) === mapped?.map) return;
  const what = 'ends with another map than that of the organizations in the file: one of them is missing, or one too many';
  yield findingInTree(PLATFORM_TREE, platform.size - 1, 'tree_mismatch', what);
}

/** Of a path that leads elsewhere than to the map: which node beside it is not that of the organizations there, as they are signed. */
function* wronglyBeside(
  { organizationId: id, siblings }: LineOf<'map'>, leaves: readonly (KeyedLeaf & { readonly organization: string })[],
): Generator<Finding> {
  const place = mapKeyOf(id);
  const listed = new Map(siblings.map(([depth, hash]) => [depth, readHash(hash)!]));
  const beside = new Map<number, (typeof leaves)[number][]>([...listed.keys()].map((depth) => [depth, []]));
  for (const leaf of leaves) {
    const depth = leaf.organization === id ? undefined : partingOf(place, leaf.place);
    if (depth !== undefined) beside.set(depth, [...(beside.get(depth) ?? []), leaf]);
  }
  for (const [depth, below] of beside) {
    if (sameHash(listed.get(depth) ?? EMPTY_SUBTREE, subtreeRoot(below, depth + 1))) continue;
    const [only] = below;
    const what = `is not, beside the path of ${id} in the map of organizations, what was signed`;
    if (only && below.length === 1) yield findingInTree(only.organization, 0, 'checkpoint_invalid', what);
    else yield findingInTree(PLATFORM_TREE, 0, 'checkpoint_invalid', `has a node over ${below.length} organizations that ${what}`);
  }
}

/** Where no sibling is listed, nothing stands; nor does anything of an organization without a leaf. */
function rootBeside(head: OrganizationHead, siblings: LineOf<'map'>['siblings']): Uint8Array {
  const place = mapKeyOf(head.organization);
  const beside = new Map(siblings.map(([depth, hash]) => [depth, readHash(hash)!]));
  let hash = head.size === 0 ? EMPTY_SUBTREE : keyedLeaf(head).hash;
  for (let depth = MAP_DEPTH - 1; depth >= 0; depth--) {
    const other = beside.get(depth) ?? EMPTY_SUBTREE;
    hash = bitAt(place, depth) === 0 ? mapNode(hash, other) : mapNode(other, hash);
  }
  return hash;
}
