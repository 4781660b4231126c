import { describe, expect, it } from '@jest/globals';
import { checkDisclosures } from '../entry/check-disclosures.js';
import { commitMembers, commitValue, disclosuresText, type Disclosure } from '../entry/commitments.js';
import { blanksIn, eraseIn, findIn } from './erase-disclosures.js';
import { outputSummary } from '../entry/output-summary.js';
import { commitmentsOf, type Payload } from '../entry/payload.js';
import { readEntry } from '../entry/read-entry.js';
import { textMatcher } from './text-matcher.js';

/** An entry whose metadata are these values, committed. */
function anEntry(input: object, note = 'nothing') {
  const made: Disclosure[] = [];
  const metadata = `{"input":${commitMembers(input, '/metadata/input', made)},"note":${commitValue(note, '/metadata/note', made)}}`;
  const payload = `{"metadata":${metadata}}`;
  const commitments = commitmentsOf(JSON.parse(payload) as Payload);
  if (typeof commitments === 'string') throw new Error(commitments);
  const disclosures = disclosuresText(made);
  const digestAt = (pointer: string) => made.find((one) => one.pointer === pointer)!.d;
  return { payload, commitments, disclosures, digestAt };
}

const erase = (text: string, ...wanted: string[]) => {
  const { digests, erasedKeys } = findIn(text, textMatcher(wanted));
  return eraseIn(text, new Set(digests), new Set(erasedKeys));
};

describe('an erasure in the disclosures of an entry', () => {
  it('blanks what it lists and leaves the rest, byte for byte', () => {
    const { payload, commitments, disclosures, digestAt } = anEntry({ to: 'anna@example.org', amount: 1500 });
    const d = digestAt('/metadata/input/to');
    const erased = eraseIn(disclosures, new Set([d, 'unknown']), new Set());
    expect(checkDisclosures(erased, commitments)).toEqual([`${d} ${blanksIn(erased)[0]![1]}`]);
    expect(erased).toMatch(new RegExp(`{"d":"${d}","pointer":"/metadata/input/to","salt":"[\\w-]{22}","erased":true}`));
    expect(erased).not.toContain((JSON.parse(disclosures) as Disclosure[]).find((one) => one.d === d)!.salt);
    expect(readEntry({ payload, disclosures: erased }).metadata['input']).toEqual({ to: '[erased]', amount: 1500 });
    expect(eraseIn(disclosures, new Set(), new Set())).toBe(disclosures);
    expect(eraseIn(erased, new Set([d]), new Set())).toBe(erased);
  });

  it('forgets a key together with its value, and stays in order', () => {
    const { commitments, disclosures, digestAt } = anEntry({ 'anna/~müller': 1, zoe: 2, 'of Anna Müller': 3, Anna: 4 }, 'Anna');
    const erased = erase(disclosures, 'anna');
    const gone = ['input/Anna', 'input/anna~1~0müller', 'input/of Anna Müller', 'note'].map((name) => digestAt(`/metadata/${name}`));
    const blanks = blanksIn(erased);
    expect(checkDisclosures(erased, commitments)).toEqual(blanks.map((one) => one.join(' ')));
    expect(blanks.map(([d]) => d).sort()).toEqual(gone.sort());
    expect(erased.toLowerCase()).not.toContain('anna');
    const pointers = (JSON.parse(erased) as Disclosure[]).map((one) => one.pointer);
    const names = ['[erased]', '[erased] 2', '[erased] 3', 'zoe'];
    expect(pointers).toEqual([...names.map((name) => `/metadata/input/${name}`), '/metadata/note']);
  });

  it('takes the key of what is blank already, and then finds nothing more', () => {
    const { commitments, disclosures, digestAt } = anEntry({ anna: 'x' });
    const d = digestAt('/metadata/input/anna');
    const blank = eraseIn(disclosures, new Set([d]), new Set());
    expect(findIn(blank, textMatcher(['Anna']))).toEqual({ digests: [], erasedKeys: [d] });
    const erased = erase(blank, 'Anna');
    expect(erased).not.toContain('anna');
    expect(checkDisclosures(erased, commitments)).toEqual([`${d} ${blanksIn(erased)[0]![1]}`]);
    expect(blanksIn(erased)).not.toEqual(blanksIn(blank));
    expect(findIn(erased, textMatcher(['Anna', 'erased']))).toEqual({ digests: [], erasedKeys: [] });
  });

  it('takes names one after another, and leaves each its place; a real "[erased]" among them', () => {
    const { commitments, disclosures } = anEntry({ '[erased]': 1, '[erased] 3': 'anna', anna: 2, bob: 3, 'anna smith': 4 });
    const pointersOf = (text: string) => (JSON.parse(text) as Disclosure[]).map(({ pointer }) => pointer.split('/').at(-1));
    const first = erase(disclosures, 'Anna Smith');
    expect(pointersOf(first)).toEqual(['[erased]', '[erased] 2', '[erased] 3', 'anna', 'bob', 'note']);
    const second = erase(first, 'anna');
    expect(pointersOf(second)).toEqual(['[erased]', '[erased] 2', '[erased] 3', '[erased] 4', 'bob', 'note']);
    expect(checkDisclosures(second, commitments)).toHaveLength(3);
    expect(blanksIn(second)).toEqual(expect.arrayContaining(blanksIn(first)));
    for (const wanted of ['2', '3', 'erased', '[erased] 2']) expect(findIn(second, textMatcher([wanted])).erasedKeys).toEqual([]);
    expect(erase(disclosures, 'Anna Smith')).toBe(first);
  });

  it('blanks nothing that stands under a name which was not committed to: what is left would vouch for it', () => {
    const { disclosures } = anEntry({ to: 'anna@example.org', amount: 5 });
    for (const name of ['bribe', 'amount']) {
      const moved = disclosures.replace('/metadata/input/to', `/metadata/input/${name}`);
      expect(() => erase(moved, 'anna@example.org')).toThrow(TypeError);
      expect(erase(moved, 'nobody')).toContain('anna@example.org');
    }
  });

  it('finds values at any depth, keys and numbers among them', () => {
    const { disclosures, digestAt } = anEntry({
      deep: [{ a: { b: ['see ANNA'] } }], key: { anna: 1 }, number: [4711], escaped: 'a"anna"\n',
      other: { x: ['annabel', 47_110, true, null] },
    });
    const { digests, erasedKeys } = findIn(disclosures, textMatcher(['anna', '4711']));
    const wanted = ['deep', 'escaped', 'key', 'number'].map((name) => digestAt(`/metadata/input/${name}`));
    expect([...digests].sort()).toEqual(wanted.sort());
    expect(erasedKeys).toEqual([]);
  });

  it('finds in the beginning of an output what its end cuts off, and in no other text', () => {
    const made: Disclosure[] = [];
    const output = JSON.stringify({ text: `${'x'.repeat(977)} for Grace Hopper-Murray` });
    for (const name of ['note', 'outputSummary']) commitValue(outputSummary(output), `/metadata/${name}`, made);
    const found = (...wanted: string[]) => findIn(disclosuresText(made), textMatcher(wanted));
    expect(outputSummary(output)).toMatch(/ for Grace Hop$/);
    const { d } = made.find(({ pointer }) => pointer === '/metadata/outputSummary')!;
    expect(found('Grace Hopper-Murray')).toEqual({ digests: [d], erasedKeys: [] });
    expect(found('Hopper Grace')).toEqual({ digests: [d], erasedKeys: [] });
    expect(found('Grace Hoover', 'Gracia', 'race hopper', 'for Grace Harper')).toEqual({ digests: [], erasedKeys: [] });
  });

  it('finds nothing at the end of an output that is there as a whole', () => {
    const made: Disclosure[] = [];
    commitValue(outputSummary('for Grace'), '/metadata/outputSummary', made);
    expect(findIn(disclosuresText(made), textMatcher(['Grace Hopper']))).toEqual({ digests: [], erasedKeys: [] });
  });
});
