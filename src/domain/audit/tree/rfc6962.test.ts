import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { leavesReader } from '../../../../test/support/memory/memory-tree.js';
import { CompactRange, rootOf } from './compact-range.js';
import { entryLeaf, platformLeaf } from './tree-leaf.js';
import { checkConsistency, checkInclusion, consistencyProof, inclusionProof } from './tree-proofs.js';
import { hashText, leafHash, nodeHash, readHash } from './rfc6962.js';

const file = readFileSync(new URL('../../../../test/vectors/audit-tree.json', import.meta.url), 'utf8');
const { rfc6962: vectors } = JSON.parse(file) as {
  rfc6962: {
    leaves: string[];
    roots: string[];
    inclusion: { index: number; size: number; proof: string[] }[];
    consistency: { from: number; to: number; proof: string[] }[];
  };
};
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bytes = (text: string) => Buffer.from(text, 'hex');
const leaves = vectors.leaves.map((leaf) => leafHash(bytes(leaf)));
const roots = vectors.roots.map(bytes);

describe('the vectors of RFC 6962', () => {
  it('gives the known root of each size', () => {
    const range = new CompactRange();
    const found = [hex(rootOf(range))];
    for (const leaf of leaves) {
      range.append(leaf);
      found.push(hex(rootOf(range)));
    }
    expect(found).toEqual(vectors.roots);
  });

  it('gives and accepts each inclusion proof', async () => {
    expect(vectors.inclusion).toHaveLength(36);
    for (const { index, size, proof } of vectors.inclusion) {
      expect((await inclusionProof(leavesReader(leaves.slice(0, size)), index, size)).map(hex)).toEqual(proof);
      expect(checkInclusion(leaves[index]!, index, size, proof.map(bytes), roots[size]!)).toBe(true);
    }
  });

  it('gives and accepts each consistency proof', async () => {
    expect(vectors.consistency).toHaveLength(45);
    for (const { from, to, proof } of vectors.consistency) {
      expect((await consistencyProof(leavesReader(leaves.slice(0, to)), from, to)).map(hex)).toEqual(proof);
      expect(checkConsistency(from, to, roots[from]!, roots[to]!, proof.map(bytes))).toBe(true);
    }
  });
});

describe('hashes of leaves and nodes', () => {
  const plainly = (...parts: (string | Uint8Array)[]) => {
    const sum = createHash('sha256');
    for (const part of parts) sum.update(part);
    return sum.digest('hex');
  };

  it('tells a leaf from a node by the first byte, at every length', () => {
    for (const length of [0, 1, 4094, 4095, 4096, 4097, 100_000]) {
      const data = Buffer.alloc(length, 7);
      expect(hex(leafHash(data))).toBe(plainly(Buffer.of(0), data));
    }
    expect(hex(leafHash('ü€😀'))).toBe(plainly(Buffer.of(0), 'ü€😀'));
    expect(hex(nodeHash(leaves[1]!, leaves[2]!))).toBe(plainly(Buffer.of(1), leaves[1]!, leaves[2]!));
  });

  it('spells a hash in one way only', () => {
    const text = hashText(leaves[0]!);
    expect(text).toBe(Buffer.from(leaves[0]!).toString('base64'));
    expect(readHash(text)).toEqual(leaves[0]);
    for (const other of [text.slice(0, -1), text.replaceAll('+', '-'), ` ${text}`, `${text}\n`, '', 'AAAA']) {
      if (other !== text) expect([other, readHash(other)]).toEqual([other, undefined]);
    }
  });

  it('writes the leaves of both trees as canonical JSON', () => {
    expect(entryLeaf({ chain: 'agt_1', hash: 'ab', seq: 12 })).toBe('{"chain":"agt_1","hash":"ab","seq":12}');
    expect(platformLeaf({ map: 'q0=', timestamp: '2026-11-22T05:00:00.000Z' })).toBe(
      '{"map":"q0=","timestamp":"2026-11-22T05:00:00.000Z"}',
    );
  });
});
