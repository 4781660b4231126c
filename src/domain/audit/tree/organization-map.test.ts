import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mapRootOver } from '../../../../test/support/memory/map-root-over.js';
import { storedMap } from '../../../../test/support/memory/memory-map.js';
import {
  EMPTY_SUBTREE, MAP_DEPTH, liftLeaf, mapLeaf, mapKeyOf, nodeOnPath, mapRoot, keyedLeaf,
  type OrganizationHead, type KeyedLeaf,
} from './organization-map.js';
import { leafHash, nodeHash } from './rfc6962.js';
import { lookUp, mapSiblings, siblingsOfNone, updateMap } from './stored-map-nodes.js';

const file = readFileSync(new URL('../../../../test/vectors/audit-tree.json', import.meta.url), 'utf8');
const { map: vectors } = JSON.parse(file) as {
  map: Record<'places' | 'leaves' | 'roots', string[]> & { heads: OrganizationHead[]; siblings: [number, string][][] };
};
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bit = (key: Uint8Array, n: number) => (key[Math.floor(n / 8)]! >> (7 - (n % 8))) & 1;

/** All 256 levels, node by node, as the definition says it. */
function naive(leaves: readonly KeyedLeaf[], depth = 0): Uint8Array {
  if (leaves.length === 0) return new Uint8Array(32);
  if (depth === MAP_DEPTH) return leaves[0]!.hash;
  const side = (which: number) => naive(leaves.filter(({ key }) => bit(key, depth) === which), depth + 1);
  return createHash('sha256').update(Buffer.of(1)).update(side(0)).update(side(1)).digest();
}

const root = leafHash('some root');
const rootText = Buffer.from(root).toString('base64');
const head = (n: number, size = n + 1): OrganizationHead => ({ organization: `org_${n}`, root: rootText, size });
const numbers = (max: number, maxLength: number) => fc.uniqueArray(fc.nat({ max }), { maxLength });

describe('the map of organizations', () => {
  it('gives the frozen places, leaves, roots and siblings', async () => {
    expect(vectors.heads.map(({ organization }) => hex(mapKeyOf(organization)))).toEqual(vectors.places);
    expect(vectors.heads.map((one) => hex(mapLeaf(one)))).toEqual(vectors.leaves);
    const stored = storedMap();
    for (const [n, one] of vectors.heads.entries()) {
      expect(hex(await stored.update([one]))).toBe(vectors.roots[n + 1]);
      expect(hex(mapRoot(vectors.heads.slice(0, n + 1).map(keyedLeaf)))).toBe(vectors.roots[n + 1]);
    }
    expect(hex(mapRoot([]))).toBe(vectors.roots[0]);
    for (const [n, one] of vectors.heads.entries()) {
      const siblings = await mapSiblings(stored, mapKeyOf(one.organization));
      expect(siblings?.map(([depth, hash]) => [depth, hex(hash)])).toEqual(vectors.siblings[n]);
    }
  });

  it('is empty at every level where nothing stands', () => {
    expect(EMPTY_SUBTREE).toEqual(new Uint8Array(32));
    expect(nodeOnPath(Uint8Array.of(0x80), 0, root, EMPTY_SUBTREE)).toEqual(nodeHash(new Uint8Array(32), root));
    expect(mapRoot([])).toEqual(new Uint8Array(32));
    const leaf = keyedLeaf(head(1));
    expect(liftLeaf(leaf, MAP_DEPTH)).toEqual(leaf.hash);
    expect(liftLeaf(leaf, 0)).toEqual(naive([leaf]));
  });

  it('has the root of the naive tree, also where places share long prefixes', () => {
    const near = (last: number): KeyedLeaf => ({ key: Uint8Array.from(root).fill(last, 31), hash: leafHash(`near ${last}`) });
    fc.assert(
      fc.property(numbers(200, 12), numbers(255, 5), (far, close) => {
        const leaves = [...far.map((n) => keyedLeaf(head(n))), ...close.map(near)];
        expect(hex(mapRoot(leaves))).toBe(hex(naive(leaves)));
      }),
      { numRuns: 25 },
    );
    expect(() => mapRoot([near(1), near(1)])).toThrow(RangeError);
  });
});

describe('the map as it is stored', () => {
  it('comes to the same root by updates as by building it anew, and keeps no node of one organization', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(numbers(60, 20), { maxLength: 6 }), async (rounds) => {
        const stored = storedMap();
        const heads = new Map<string, OrganizationHead>();
        for (const [n, round] of rounds.entries()) {
          const changed = round.map((one) => head(one, n + 1));
          for (const one of changed) heads.set(one.organization, one);
          const found = await stored.update(changed);
          expect(hex(found)).toBe(hex(mapRoot([...heads.values()].map(keyedLeaf))));
        }
        const inner = [...stored.nodes.values()].filter(({ depth }) => depth < MAP_DEPTH);
        expect(stored.nodes.size - inner.length).toBe(heads.size);
        for (const { depth, prefix } of inner) expect(stored.under(depth, prefix).length).toBeGreaterThan(1);
      }),
      { numRuns: 40 },
    );
  });

  it('proves every organization that it holds, and none that it does not', async () => {
    const stored = storedMap();
    const heads = Array.from({ length: 150 }, (_, n) => head(n));
    const found = await stored.update(heads);
    for (const one of heads) {
      const leaf = keyedLeaf(one);
      const siblings = (await mapSiblings(stored, leaf.key))!;
      expect(mapRootOver(leaf, siblings)).toEqual(found);
      expect(mapRootOver(keyedLeaf({ ...one, size: one.size + 1 }), siblings)).not.toEqual(found);
      expect(mapRootOver(leaf, siblings.slice(1))).not.toEqual(found);
    }
    expect(await mapSiblings(stored, mapKeyOf('org_unknown'))).toBeUndefined();
    expect(await mapSiblings(storedMap(), mapKeyOf('org_0'))).toBeUndefined();
  });

  it('reads once a level, however many organizations change', async () => {
    const stored = storedMap();
    await stored.update(Array.from({ length: 300 }, (_, n) => head(n)));
    stored.reads = 0;
    await stored.update(Array.from({ length: 300 }, (_, n) => head(n, 1_000)));
    expect(stored.reads).toBeLessThan(30);
    expect((await updateMap(stored, [])).nodes).toEqual([]);
  });

  it('gives the root that was signed with whatever it reads, also of a place that holds nothing', async () => {
    await fc.assert(
      fc.asyncProperty(numbers(60, 25), fc.nat({ max: 60 }), async (some, asked) => {
        const stored = storedMap();
        const signed = await stored.update(some.map((n) => head(n)));
        const { leaf, root: found } = await lookUp(stored, mapKeyOf(`org_${asked}`));
        expect(hex(found)).toBe(hex(signed));
        expect(leaf && hex(leaf)).toBe(some.includes(asked) ? hex(mapLeaf(head(asked))) : undefined);
        expect(hex((await updateMap(stored, [head(asked, 99)])).before)).toBe(hex(signed));
      }),
      { numRuns: 60 },
    );
  });

  it('shows of a place that holds nothing what stands beside it, and of one that holds a leaf nothing', async () => {
    const none = (key: Uint8Array): KeyedLeaf => ({ key, hash: EMPTY_SUBTREE });
    await fc.assert(
      fc.asyncProperty(numbers(60, 25), fc.nat({ max: 60 }), async (some, asked) => {
        const stored = storedMap();
        const signed = await stored.update(some.map((n) => head(n)));
        const { key } = keyedLeaf(head(asked));
        const siblings = await siblingsOfNone(stored, key);
        expect(siblings === undefined).toBe(some.includes(asked));
        if (siblings) expect(hex(mapRootOver(none(key), siblings))).toBe(hex(signed));
      }),
      { numRuns: 60 },
    );
  });

  it('gives another root wherever somebody changed or removed what is read', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.nat({ max: 60 }), { minLength: 1, maxLength: 12 }), fc.nat(), fc.nat({ max: 60 }), fc.boolean(),
        async (some, which, asked, isRemoved) => {
          const stored = storedMap();
          const signed = await stored.update(some.map((n) => head(n)));
          const [name, node] = [...stored.nodes][which % stored.nodes.size]!;
          if (isRemoved) stored.nodes.delete(name);
          else stored.nodes.set(name, { ...node, hash: leafHash('forged') });
          const { leaf, root: found } = await lookUp(stored, mapKeyOf(`org_${asked}`));
          const { before } = await updateMap(stored, [head(asked, 99)]);
          expect(hex(before)).toBe(hex(found));
          // What was not read may have been changed; then the answer is still that of the signed map.
          const isTold = leaf === undefined ? some.includes(asked) : hex(leaf) !== hex(mapLeaf(head(asked)));
          if (isTold) expect(hex(found)).not.toBe(hex(signed));
        },
      ),
      { numRuns: 200 },
    );
  });
});
