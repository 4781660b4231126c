import { describe, expect, test } from '@jest/globals';
import { type Finding, findingAt, Findings, findingInTree, MAX_FINDINGS, missingEntries } from './findings.js';

const edited = (seq: number): Finding => findingAt({ chain: 'agt_a', seq, id: `aud_${seq}` }, 'edited', 'is not what was written');
const rewritten = Array.from({ length: MAX_FINDINGS + 500 }, (_, n) => edited(n + 1));

describe('breaks', () => {
  test('all are listed in their order as long as there is room', () => {
    const breaks = new Findings();
    const all = [edited(1), missingEntries('agt_a', 2, 3, 'deleted', 'they went'), edited(4),
      findingInTree('org_a', 0, 'tree_mismatch', 'is another')];
    for (const one of all) breaks.add([one]);
    expect(breaks).toMatchObject({ listed: all, found: 4 });
  });

  test('more than are listed are counted', () => {
    const breaks = new Findings();
    breaks.add(rewritten);
    breaks.add([edited(1)], 7);
    expect(breaks.found).toBe(MAX_FINDINGS + 507);
    expect(breaks.listed).toEqual(rewritten.slice(0, MAX_FINDINGS));
  });

  test('what a tree or a gap shows takes the place of what one entry shows', () => {
    const breaks = new Findings();
    breaks.add(rewritten);
    const gap = missingEntries('agt_a', 2_000, 2_001, 'truncated', 'the tree knows them');
    const tree = findingInTree('org_a', 0, 'tree_mismatch', 'is another');
    breaks.add([gap, edited(9_999), tree]);
    expect(breaks.found).toBe(rewritten.length + 3);
    expect(breaks.listed).toEqual([...rewritten.slice(0, MAX_FINDINGS - 2), gap, tree]);
    breaks.add(Array.from({ length: 2 * MAX_FINDINGS }, (_, n) => findingInTree('org_a', n, 'tree_mismatch', 'is another')));
    expect(breaks.listed).toHaveLength(MAX_FINDINGS);
    expect(breaks.listed.every(({ entryId }) => entryId === null)).toBe(true);
  });
});
