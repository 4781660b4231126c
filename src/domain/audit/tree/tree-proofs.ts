import { alignedSubtrees, CompactRange, type Subtree } from './compact-range.js';
import type { HashReader } from './hash-reader.js';
import { EMPTY_ROOT, foldRight, nodeHash, sameHash } from './rfc6962.js';

/** Leaves [from, to), which stand under one node of the tree. */
type Range = readonly [from: number, to: number];

/** That a leaf stands in a tree (RFC 6962, section 2.1.1). @throws RangeError where the tree has no such leaf */
export async function inclusionProof(reader: HashReader, index: number, size: number): Promise<Uint8Array[]> {
  assertPositions(index, size);
  if (index >= size) throw new RangeError(`a tree of ${size} has no leaf ${index}`);
  return rootsOf(reader, besidePath(index, [0, size]));
}

/** Whether the proof leads from the leaf's hash to the root (RFC 9162, section 2.1.3.2). */
export function checkInclusion(
  leafHash: Uint8Array, index: number, size: number, proof: readonly Uint8Array[], root: Uint8Array,
): boolean {
  if (!isPosition(index) || !isPosition(size) || index >= size) return false;
  const areLeft = leftSiblings(index, size - 1);
  return areLeft.length === proof.length && sameHash(proof.reduce((own, node, n) => joined(own, node, areLeft[n]!), leafHash), root);
}

/**
 * That the tree of `to` leaves continues that of `from` (RFC 6962, section 2.1.2). @throws RangeError where the tree does not reach that
 * far
 */
export async function consistencyProof(reader: HashReader, from: number, to: number): Promise<Uint8Array[]> {
  assertPositions(from, to);
  if (from > to) throw new RangeError(`a tree of ${to} does not continue one of ${from}`);
  return from === 0 || from === to ? [] : rootsOf(reader, besideEdge(from, [0, to], true));
}

/** Whether the proof shows that the first root's tree is the beginning of the second's (RFC 9162, section 2.1.4.2). */
export function checkConsistency(
  from: number, to: number, fromRoot: Uint8Array, toRoot: Uint8Array, proof: readonly Uint8Array[],
): boolean {
  if (!isPosition(from) || !isPosition(to) || from > to) return false;
  if (from === 0) return proof.length === 0 && sameHash(fromRoot, EMPTY_ROOT) && (to > 0 || sameHash(toRoot, EMPTY_ROOT));
  if (from === to) return proof.length === 0 && sameHash(fromRoot, toRoot);
  let [at, last] = [from - 1, to - 1];
  while (isOdd(at)) [at, last] = [half(at), half(last)];
  // The smaller tree is complete: its root is the node that both trees share, and does not stand in the proof.
  const [shared, ...others] = at === 0 ? [fromRoot, ...proof] : proof;
  const areLeft = leftSiblings(at, last);
  if (!shared || areLeft.length !== others.length) return false;
  const older = others.reduce((own, node, n) => (areLeft[n] ? nodeHash(node, own) : own), shared);
  return sameHash(older, fromRoot) && sameHash(others.reduce((own, node, n) => joined(own, node, areLeft[n]!), shared), toRoot);
}

/** For each sibling beside the path from a node to the root, whether it is the left one. `end` is the last node of its level. */
function leftSiblings(index: number, end: number): boolean[] {
  const areLeft: boolean[] = [];
  for (let [at, last] = [index, end]; last > 0; [at, last] = [half(at), half(last)]) {
    const isLeft = isOdd(at) || at === last;
    areLeft.push(isLeft);
    if (isLeft) while (!isOdd(at) && at > 0) [at, last] = [half(at), half(last)];
  }
  return areLeft;
}

function joined(own: Uint8Array, sibling: Uint8Array, isLeft: boolean): Uint8Array {
  return isLeft ? nodeHash(sibling, own) : nodeHash(own, sibling);
}

/** The compact range of a tree's first `size` leaves: its root, and where appending goes on. */
export async function rangeOf(reader: HashReader, size: number): Promise<CompactRange> {
  return new CompactRange(size, await subtreeRoots(reader, alignedSubtrees(0, size)));
}

/** Roots of complete subtrees, in the order asked for: one read for each level. */
export async function subtreeRoots(reader: HashReader, subtrees: readonly Subtree[]): Promise<Uint8Array[]> {
  const found = new Array<Uint8Array>(subtrees.length);
  for (const level of new Set(subtrees.map((one) => one.level))) {
    const keys = [...subtrees.keys()].filter((n) => subtrees[n]!.level === level);
    const roots = await reader.read(level, keys.map((n) => subtrees[n]!.index));
    for (const [n, key] of keys.entries()) found[key] = roots[n]!;
  }
  return found;
}

/** PATH of RFC 6962, section 2.1.1. */
function besidePath(index: number, [from, to]: Range): Range[] {
  if (to - from === 1) return [];
  const middle = from + split(to - from);
  return index < middle
    ? [...besidePath(index, [from, middle]), [middle, to]]
    : [...besidePath(index, [middle, to]), [from, middle]];
}

/** SUBPROOF of RFC 6962, section 2.1.2. */
function besideEdge(edge: number, [from, to]: Range, isOlderTree: boolean): Range[] {
  if (edge === to) return isOlderTree ? [] : [[from, to]];
  const middle = from + split(to - from);
  return edge <= middle
    ? [...besideEdge(edge, [from, middle], isOlderTree), [middle, to]]
    : [...besideEdge(edge, [middle, to], false), [from, middle]];
}

/** The largest power of two below `count`, which is at least 2. */
function split(count: number): number {
  let power = 1;
  while (power * 2 < count) power *= 2;
  return power;
}

async function rootsOf(reader: HashReader, ranges: readonly Range[]): Promise<Uint8Array[]> {
  const parts = ranges.map(([from, to]) => alignedSubtrees(from, to));
  const roots = await subtreeRoots(reader, parts.flat());
  let at = 0;
  return parts.map(({ length }) => foldRight(roots.slice(at, (at += length))));
}

function assertPositions(...numbers: number[]): void {
  if (!numbers.every(isPosition)) throw new RangeError('not a position in a tree');
}

function isPosition(n: number): boolean {
  return Number.isSafeInteger(n) && n >= 0;
}

// Bit operations would cut sizes to 32 bits.
function isOdd(n: number): boolean {
  return n % 2 === 1;
}

function half(n: number): number {
  return Math.floor(n / 2);
}
