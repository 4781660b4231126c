import { hash } from 'node:crypto';
import type { TreeHead } from '../notes/checkpoint.js';
import { jcsString } from '../entry/jcs.js';
import { HASH_BYTES, leafHash, nodeHash } from './rfc6962.js';

/** Levels of the map below its root: the bits of a key, the first bit highest. */
export const MAP_DEPTH = 256;

/** The empty subtree, at every level: 32 zero bytes, never hashed with another. */
export const EMPTY_SUBTREE: Uint8Array = new Uint8Array(HASH_BYTES);

export interface OrganizationHead extends TreeHead {
  readonly organization: string;
}

/** A leaf with its key. */
export interface KeyedLeaf {
  readonly key: Uint8Array;
  readonly hash: Uint8Array;
}

/** A node beside a path: `depth` is that of the node in which both meet, which is also the bit in which they part. */
export type MapSibling = readonly [depth: number, hash: Uint8Array];

/** The one key that an organization can have: SHA-256 of its id. */
export function mapKeyOf(organization: string): Uint8Array {
  return hash('sha256', organization, 'buffer');
}

/** SHA-256(0x00 ‖ JCS({organization, root, size})). */
export function mapLeaf({ organization, root, size }: OrganizationHead): Uint8Array {
  return leafHash(`{"organization":${jcsString(organization)},"root":${jcsString(root)},"size":${size}}`);
}

export function keyedLeaf(head: OrganizationHead): KeyedLeaf {
  return { key: mapKeyOf(head.organization), hash: mapLeaf(head) };
}

/** The subtree at a depth of which a leaf is the only content: the leaf, lifted past empty siblings. */
export function liftLeaf({ key, hash: leaf }: KeyedLeaf, depth: number): Uint8Array {
  let found = leaf;
  for (let at = MAP_DEPTH - 1; at >= depth; at--) found = nodeOnPath(key, at, found, EMPTY_SUBTREE);
  return found;
}

/** The node at a depth of the path to a key, over the path's own child and the other one; not both are empty. */
export function nodeOnPath(key: Uint8Array, depth: number, own: Uint8Array, other: Uint8Array): Uint8Array {
  return bitAt(key, depth) === 0 ? nodeHash(own, other) : nodeHash(other, own);
}

/** Root of the map over all its leaves, each key taken once. */
export function mapRoot(leaves: readonly KeyedLeaf[]): Uint8Array {
  return rootUnder([...leaves].sort(byMapKey), 0);
}

/** The subtree at a depth over sorted leaves. @param visit gets every node over two leaves or more, after those below it */
export function rootUnder<Leaf extends KeyedLeaf>(
  sorted: readonly Leaf[], depth: number, visit?: (leaves: readonly Leaf[], depth: number, hash: Uint8Array) => void,
): Uint8Array {
  const [only] = sorted;
  if (!only) return EMPTY_SUBTREE;
  if (sorted.length === 1) return liftLeaf(only, depth);
  if (depth === MAP_DEPTH) throw new RangeError('two leaves stand in one place');
  const middle = partAt(sorted, depth);
  const [left, right] = [sorted.slice(0, middle), sorted.slice(middle)].map((half) => rootUnder(half, depth + 1, visit));
  const hash = nodeHash(left!, right!);
  visit?.(sorted, depth, hash);
  return hash;
}

/** The bit of a key in which the paths part below a node at this depth. */
export function bitAt(key: Uint8Array, depth: number): 0 | 1 {
  return ((key[depth >> 3]! >> (7 - (depth & 7))) & 1) as 0 | 1;
}

/** The bit in which two keys part, which are not the same. */
export function partingOf(one: Uint8Array, other: Uint8Array): number {
  let depth = 0;
  while (bitAt(one, depth) === bitAt(other, depth)) depth++;
  return depth;
}

export function byMapKey(a: { readonly key: Uint8Array }, b: { readonly key: Uint8Array }): number {
  return Buffer.compare(a.key, b.key);
}

/** Where leaves that are sorted by key part in a left and a right half below a node at this depth. */
export function partAt(leaves: readonly { readonly key: Uint8Array }[], depth: number): number {
  const at = leaves.findIndex(({ key }) => bitAt(key, depth) === 1);
  return at < 0 ? leaves.length : at;
}
