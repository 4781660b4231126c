import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { leavesReader, naiveRoot, tilesOf } from '../../../../test/support/memory/memory-tree.js';
import { CompactRange, alignedSubtrees, rootOf } from './compact-range.js';
import { tileRoot, tiledHashReader } from './hash-reader.js';
import { checkConsistency, checkInclusion, consistencyProof, inclusionProof, rangeOf, subtreeRoots } from './tree-proofs.js';
import { EMPTY_ROOT, leafHash, sameHash } from './rfc6962.js';

const LEAVES = Array.from({ length: 600 }, (_, n) => leafHash(`leaf ${n}`));
const first = (size: number) => LEAVES.slice(0, size);
const tiled = (size: number) => tiledHashReader(size, tilesOf(first(size)));
const size = fc.nat({ max: LEAVES.length });

/** One byte of one hash is another. */
const flipped = (proof: readonly Uint8Array[], n: number) =>
  proof.map((hash, i) => (i === n % proof.length ? Buffer.from(hash).fill((hash[0]! + 1) % 256, 0, 1) : hash));

describe('a compact range', () => {
  it('has the root of the naive tree at every size from 0 to 600', () => {
    const range = new CompactRange();
    for (let n = 0; n <= LEAVES.length; n++) {
      expect([n, sameHash(rootOf(range), naiveRoot(first(n)))]).toEqual([n, true]);
      if (n < LEAVES.length) range.append(LEAVES[n]!);
    }
  });

  it('takes whole subtrees for the leaves below them', async () => {
    await fc.assert(
      fc.asyncProperty(size, size, async (a, b) => {
        const [from, to] = a < b ? [a, b] : [b, a];
        const range = new CompactRange();
        for (const leaf of first(from)) range.append(leaf);
        const parts = alignedSubtrees(from, to);
        const roots = await subtreeRoots(leavesReader(LEAVES), parts);
        for (const [n, { level }] of parts.entries()) range.appendSubtree(level, roots[n]!);
        expect(range.size).toBe(to);
        expect(rootOf(range)).toEqual(naiveRoot(first(to)));
      }),
    );
  });

  it('names the largest aligned subtrees, also beyond 32 bits', () => {
    expect(alignedSubtrees(5, 5)).toEqual([]);
    expect(alignedSubtrees(3, 13)).toEqual([
      { level: 0, index: 3 }, { level: 2, index: 1 }, { level: 2, index: 2 }, { level: 0, index: 12 },
    ]);
    expect(alignedSubtrees(0, 2 ** 40 + 1)).toEqual([{ level: 40, index: 0 }, { level: 0, index: 2 ** 40 }]);
  });

  it('refuses a subtree where none begins, and nodes that are not its own', () => {
    const range = new CompactRange();
    range.append(LEAVES[0]!);
    expect(() => range.appendSubtree(1, LEAVES[1]!)).toThrow(RangeError);
    expect(() => new CompactRange(3, [LEAVES[0]!])).toThrow(RangeError);
  });
});

describe('a tree read from tiles', () => {
  it('gives the same hashes as the leaves, and goes on where it ended', async () => {
    await fc.assert(
      fc.asyncProperty(size, async (n) => {
        expect(rootOf(await rangeOf(tiled(n), n))).toEqual(naiveRoot(first(n)));
      }),
      { numRuns: 60 },
    );
    await expect(tiled(300).read(8, [1])).rejects.toThrow(RangeError);
  });

  it('recomputes the edges of two levels of tiles, from known roots where there are some', async () => {
    const leaves = Array.from({ length: 256 * 256 + 2 * 256 + 3 }, (_, n) => leafHash(`many ${n}`));
    const source = tilesOf(leaves);
    const root = naiveRoot(leaves);
    for (const index of [0, 65_535, 65_536, 66_047, 66_048, leaves.length - 1]) {
      const proof = await inclusionProof(tiledHashReader(leaves.length, source), index, leaves.length);
      expect([index, checkInclusion(leaves[index]!, index, leaves.length, proof, root)]).toEqual([index, true]);
    }
    // A proof reads at most the tiles of its path, one a level, and the two full tiles below the edge of level 1.
    expect(source.reads).toBeLessThanOrEqual(6 * 4);
    const known = { ...source, roots: async (level: number, at: readonly number[]) => (await source.tiles(level, at)).map(tileRoot) };
    expect(rootOf(await rangeOf(tiledHashReader(leaves.length, known), leaves.length))).toEqual(root);
  });
});

describe('inclusion', () => {
  it('is proved for every leaf, from tiles as from leaves, and for no other place', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: LEAVES.length }), fc.nat(), fc.nat(), async (n, at, other) => {
        const index = at % n;
        const root = naiveRoot(first(n));
        const proof = await inclusionProof(tiled(n), index, n);
        expect(proof).toEqual(await inclusionProof(leavesReader(first(n)), index, n));
        expect(checkInclusion(LEAVES[index]!, index, n, proof, root)).toBe(true);
        const elsewhere = other % n;
        if (elsewhere !== index) {
          expect(checkInclusion(LEAVES[index]!, elsewhere, n, proof, root)).toBe(false);
          expect(checkInclusion(LEAVES[elsewhere]!, index, n, proof, root)).toBe(false);
        }
        expect(checkInclusion(LEAVES[index]!, index, n, [...proof, EMPTY_ROOT], root)).toBe(false);
        if (proof.length > 0) {
          expect(checkInclusion(LEAVES[index]!, index, n, proof.slice(1), root)).toBe(false);
          expect(checkInclusion(LEAVES[index]!, index, n, flipped(proof, other), root)).toBe(false);
        }
      }),
    );
  });

  it('has no proof beyond the tree', async () => {
    await expect(inclusionProof(tiled(5), 5, 5)).rejects.toThrow(RangeError);
    await expect(inclusionProof(tiled(5), -1, 5)).rejects.toThrow(RangeError);
    for (const index of [-1, 1, 0.5, Number.NaN]) expect(checkInclusion(LEAVES[0]!, index, 1, [], LEAVES[0]!)).toBe(false);
  });
});

describe('consistency', () => {
  it('is proved between all sizes, and not from another tree', async () => {
    await fc.assert(
      fc.asyncProperty(size, size, fc.nat(), async (a, b, which) => {
        const [from, to] = a < b ? [a, b] : [b, a];
        const [older, newer] = [naiveRoot(first(from)), naiveRoot(first(to))];
        const proof = await consistencyProof(tiled(to), from, to);
        expect(proof).toEqual(await consistencyProof(leavesReader(first(to)), from, to));
        expect(checkConsistency(from, to, older, newer, proof)).toBe(true);
        const foreign = leafHash('another tree');
        expect(checkConsistency(from, to, foreign, newer, proof)).toBe(false);
        if (from > 0) expect(checkConsistency(from, to, older, foreign, proof)).toBe(false);
        expect(checkConsistency(from, to, older, newer, [...proof, foreign])).toBe(false);
        if (proof.length > 0) {
          expect(checkConsistency(from, to, older, newer, proof.slice(1))).toBe(false);
          expect(checkConsistency(from, to, older, newer, flipped(proof, which))).toBe(false);
        }
      }),
    );
  });

  it('has no proof backwards', async () => {
    await expect(consistencyProof(tiled(3), 3, 2)).rejects.toThrow(RangeError);
    expect(checkConsistency(3, 2, naiveRoot(first(3)), naiveRoot(first(2)), [])).toBe(false);
    expect(checkConsistency(1, 2, LEAVES[0]!, naiveRoot(first(2)), [])).toBe(false);
    expect(checkConsistency(0, 0, EMPTY_ROOT, LEAVES[0]!, [])).toBe(false);
  });
});
