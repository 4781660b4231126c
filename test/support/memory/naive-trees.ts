import { createHash } from 'node:crypto';
import { jcs } from '../../../src/domain/audit/entry/jcs.js';

// RFC 6962 and the map by their definitions, without any thought of speed.

const sha256 = (...parts: (string | Uint8Array)[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

export const leafHash = (text: string): Buffer => sha256(Uint8Array.of(0), text);
const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(Uint8Array.of(1), left, right);

/** The largest power of two below n. */
function split(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

export function merkleRoot(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return sha256();
  if (leaves.length === 1) return leaves[0]!;
  const k = split(leaves.length);
  return nodeHash(merkleRoot(leaves.slice(0, k)), merkleRoot(leaves.slice(k)));
}

export function inclusionProof(leaves: readonly Buffer[], index: number): Buffer[] {
  if (leaves.length <= 1) return [];
  const k = split(leaves.length);
  return index < k
    ? [...inclusionProof(leaves.slice(0, k), index), merkleRoot(leaves.slice(k))]
    : [...inclusionProof(leaves.slice(k), index - k), merkleRoot(leaves.slice(0, k))];
}

export function consistencyProof(leaves: readonly Buffer[], from: number, whole = true): Buffer[] {
  if (from === leaves.length) return whole ? [] : [merkleRoot(leaves)];
  const k = split(leaves.length);
  return from <= k
    ? [...consistencyProof(leaves.slice(0, k), from, whole), merkleRoot(leaves.slice(k))]
    : [...consistencyProof(leaves.slice(k), from - k, false), merkleRoot(leaves.slice(0, k))];
}

/** The roots of the largest aligned subtrees that fill [from, to). */
export function subtreeRoots(leaves: readonly Buffer[], from: number, to: number): Buffer[] {
  const roots: Buffer[] = [];
  for (let at = from; at < to; ) {
    let size = 1;
    while (at % (size * 2) === 0 && at + size * 2 <= to) size *= 2;
    roots.push(merkleRoot(leaves.slice(at, at + size)));
    at += size;
  }
  return roots;
}

interface MapLeaf {
  readonly organization: string;
  readonly size: number;
  readonly root: string;
}

const EMPTY = Buffer.alloc(32);

/** The sparse map of depth 256 over organizations. */
export function mapOf(leaves: readonly MapLeaf[]): { root: Buffer; siblings: (organization: string) => [number, string][] } {
  const placeOf = (organization: string) => [...sha256(organization)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const placed = leaves.map((leaf) => ({
    bits: placeOf(leaf.organization),
    hash: leafHash(jcs({ organization: leaf.organization, root: leaf.root, size: leaf.size })),
  }));
  const below = (prefix: string): Buffer => {
    const here = placed.filter((one) => one.bits.startsWith(prefix));
    if (here.length === 0) return EMPTY;
    if (prefix.length === 256) return here[0]!.hash;
    return nodeHash(below(`${prefix}0`), below(`${prefix}1`));
  };
  return {
    root: below(''),
    siblings: (organization) => {
      const bits = placeOf(organization);
      const found: [number, string][] = [];
      for (let depth = 0; depth < 256; depth++) {
        const sibling = below(bits.slice(0, depth) + (bits[depth] === '0' ? '1' : '0'));
        if (!sibling.equals(EMPTY)) found.push([depth, sibling.toString('base64')]);
      }
      return found;
    },
  };
}
