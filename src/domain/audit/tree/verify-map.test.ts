import { describe, expect, it } from '@jest/globals';
import { partOf } from '../../../../test/support/running/whole-form.js';
import { storedMap } from '../../../../test/support/memory/memory-map.js';
import type { ShownMapNode } from '../integrity/log-source.js';
import { mapLeaf, mapKeyOf, mapRoot, keyedLeaf, type OrganizationHead } from './organization-map.js';
import { EMPTY_ROOT, hashText } from './rfc6962.js';
import { keyAt } from './stored-map-nodes.js';
import { verifyMap } from './verify-map.js';

const ROOT = hashText(EMPTY_ROOT);
const head = (n: number): OrganizationHead => ({ organization: `org_${n}`, size: n + 1, root: ROOT });
const heads = (count: number) => Array.from({ length: count }, (_, n) => head(n));

/** Rows as the service stores them, in the order in which they are read. */
async function rowsOf(count: number): Promise<ShownMapNode[]> {
  const map = storedMap();
  for (const one of heads(count)) await map.update([one]);
  return inOrder([...map.nodes.values()].map(({ depth, prefix, hash, head: own }) =>
    ({ depth, prefix, hash, organization: own?.organization ?? null, size: own?.size ?? null, root: own?.root ?? null })));
}

function inOrder(rows: ShownMapNode[]): ShownMapNode[] {
  const key = ({ organization, depth, prefix }: ShownMapNode) =>
    (depth === 256 && organization !== null ? mapKeyOf(organization) : prefix);
  return rows.sort((a, b) => Buffer.compare(key(a), key(b)) || a.depth - b.depth);
}

async function found(rows: readonly ShownMapNode[]) {
  const inBatches = async function* () {
    for (let at = 0; at < rows.length; at += 3) yield rows.slice(at, at + 3);
  };
  const { findings: { listed: breaks, found: breaksFound }, root } = await verifyMap(inBatches(), 7);
  return { breaks: breaks.map(({ chain, detail }) => `${chain}: ${detail.replace(/^.*?(stored|stands|has)/u, '$1')}`), breaksFound, root };
}

const changed = (rows: readonly ShownMapNode[], at: number, change: Partial<ShownMapNode>): ShownMapNode[] =>
  inOrder(rows.map((row, n) => (n === at ? { ...row, ...change } : row)));
const WRONG = Buffer.alloc(32, 9);

describe('verifyMap', () => {
  it.each([0, 1, 2, 3, 17, 120])('computes the root of a map of %p organizations, and finds all of its nodes right', async (count) => {
    const { root, breaks } = await found(await rowsOf(count));
    expect(breaks).toEqual([]);
    expect(hashText(root)).toBe(hashText(mapRoot(heads(count).map(keyedLeaf))));
  });

  it('names whatever node was changed, once and no other', async () => {
    const rows = await rowsOf(40);
    for (const [at, row] of rows.entries()) {
      for (const hash of partOf([WRONG, Buffer.of(0), Buffer.alloc(0)], 3, at)) {
        const { breaks } = await found(changed(rows, at, { hash }));
        const another = 'stored node has another hash than what is below it gives';
        expect(breaks).toEqual([row.organization === null
          ? expect.stringMatching(new RegExp(`^platform: ${another}, over .*at depth ${row.depth}$`))
          : `${row.organization}: has a hash in the map of organizations that is not that of its head there`]);
      }
    }
  });

  it('names whatever inner node was taken out', async () => {
    const rows = await rowsOf(40);
    for (const [at, { depth, organization }] of rows.entries()) {
      if (organization !== null) continue;
      const { breaks } = await found(rows.filter((_, n) => n !== at));
      expect(breaks).toEqual([expect.stringMatching(new RegExp(`^platform: stored node is missing over .*, at depth ${depth}$`))]);
    }
  });

  it('says over which organizations a node stands', async () => {
    const rows = await rowsOf(2);
    const [first, second] = heads(2).map(({ organization }) => organization)
      .sort((a, b) => Buffer.compare(mapKeyOf(a), mapKeyOf(b)));
    expect((await found(changed(rows, 0, { hash: WRONG }))).breaks)
      .toEqual([`platform: stored node has another hash than what is below it gives, over ${first} and ${second}, at depth 0`]);
  });

  it('names a node that stands over one organization alone, or over none', async () => {
    const rows = await rowsOf(40);
    const node = (key: Uint8Array, depth: number): ShownMapNode =>
      ({ ...keyAt(key, depth), hash: WRONG, organization: null, size: null, root: null });
    const lone = await found(inOrder([...rows, node(mapKeyOf('org_5'), 200)]));
    expect(lone.breaks).toEqual(['platform: stored node stands over less than two organizations, at depth 200']);
    const none = await found(inOrder([...rows, node(mapKeyOf('nobody'), 90), node(mapKeyOf('nobody'), 100)]));
    expect(none.breaks).toEqual([90, 100].map((depth) => `platform: stored node stands over no organization, at depth ${depth}`));
    expect((await found([node(mapKeyOf('nobody'), 3)])).breaks)
      .toEqual(['platform: stored node stands over no organization, at depth 3']);
  });

  it('names a node under a name that no node has, and one that stands twice', async () => {
    const rows = await rowsOf(40);
    const inner = rows.findIndex(({ depth }) => depth === 3);
    const { prefix } = rows[inner]!;
    for (const wrong of [Buffer.alloc(0), Buffer.concat([prefix, Buffer.of(0)]), Buffer.of(prefix[0]! | 1)]) {
      const { breaks } = await found(changed(rows, inner, { prefix: wrong }));
      expect(breaks).toContain('platform: stored node stands where none can be, at depth 3');
    }
    expect((await found(inOrder([...rows, { ...rows[inner]!, hash: WRONG }]))).breaks)
      .toEqual(['platform: stored node stands twice, at depth 3']);
    expect((await found(changed(rows, inner, { organization: 'org_1' }))).breaks)
      .toEqual(['platform: stored node has the head of an organization, at depth 3']);
  });

  it('names a leaf at the place of another, one that is there twice, and one of nobody', async () => {
    const rows = await rowsOf(40);
    const at = rows.findIndex(({ organization }) => organization === 'org_5');
    const moved = await found(changed(rows, at, { prefix: WRONG }));
    expect(moved.breaks).toEqual(['org_5: stands in the map of organizations at the place of another']);
    expect(hashText(moved.root)).toBe(hashText(mapRoot(heads(40).map(keyedLeaf))));
    const twice = await found(inOrder([...rows, { ...rows[at]!, prefix: WRONG, size: 99 }]));
    expect(twice.breaks).toEqual(['org_5: stands twice in the map of organizations: there are two histories of it']);
    const nobody = await found(changed(rows, at, { organization: null }));
    expect(nobody.breaks).toContain('platform: stored node is a leaf of no organization');
  });

  it('takes the hash of a head for what its row says, so that a head that was changed makes another map', async () => {
    const rows = await rowsOf(3);
    const at = rows.findIndex(({ organization }) => organization === 'org_1');
    const forged = { organization: 'org_1', size: 9, root: ROOT };
    const { breaks, root } = await found(changed(rows, at, { size: 9, hash: mapLeaf(forged) }));
    expect(breaks.length).toBeGreaterThan(0);
    expect(hashText(root)).not.toBe(hashText(mapRoot(heads(3).map(keyedLeaf))));
  });
});
