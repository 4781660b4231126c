import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { outputSummary } from '../entry/output-summary.js';
import { DigestSet, RecordGaps } from './record-gaps.js';
import { brief } from './record-text.js';

describe('a set of digests', () => {
  it('has what was added, and nothing else, however much that is', () => {
    const set = new DigestSet(randomBytes(16));
    for (let i = 0; i < 20_000; i++) set.add(`exec_${i}`);
    for (let i = 0; i < 20_000; i++) set.add(`exec_${i}`);
    expect(set.size).toBe(20_000);
    const has = (n: number) => set.has(`exec_${n}`);
    expect([0, 1, 9_999, 19_999].every(has)).toBe(true);
    expect([20_000, 20_001, 99_999].some(has)).toBe(false);
  });
});

it('gaps are kept apart by kind, organization and id', () => {
  const gaps = new RecordGaps(randomBytes(16));
  gaps.add({ kind: 'execution', organizationId: 'org_a', id: 'x', isBlank: true });
  gaps.add({ kind: 'request', organizationId: 'org_a', id: 'x', isBlank: false, shown: { note: '[erased]', action: 'a [erased]' } });
  const left = (key: string) => Object.keys(gaps.withoutBlank(key, { input: '{}', note: 'n', reasons: '[]' }));
  expect(left('execution org_a x')).toEqual(['reasons']);
  expect(left('execution org_b x')).toEqual(['input', 'note', 'reasons']);
  expect(left('request org_a x')).toEqual(['input', 'note', 'reasons']);
  const isErased = (key: string, name: string) => gaps.erasedInRow(key)(name, brief('jo'));
  expect(isErased('execution org_a x', 'note')).toBe(false);
  expect(isErased('request org_a x', 'note')).toBe(true);
  expect(isErased('request org_b x', 'note')).toBe(false);
  expect(isErased('request org_a x', 'action')).toBe(false);
});

it('the note of a blank request counts where a vote shows that', () => {
  const gaps = new RecordGaps(randomBytes(16));
  gaps.add({ kind: 'request', organizationId: 'org_a', id: 'x', isBlank: true, hasNote: true });
  expect(gaps.withoutBlank('request org_a x', { input: '{}', note: 'n' })).toEqual({ note: 'n' });
});

it('a mark that somebody wrote is not erased where the entry has the same text; of an output the entry has the beginning', () => {
  const gaps = new RecordGaps(randomBytes(16));
  const [input, output] = ['{"to":"[erased]"}', `["${'x'.repeat(2_000)}","[erased]"]`];
  gaps.add({ kind: 'execution', organizationId: 'org_a', id: 'x', isBlank: false, shown: { input, output } });
  const isErased = gaps.erasedInRow('execution org_a x');
  expect(isErased('input', brief(input))).toBe(false);
  expect(isErased('input', brief('{"to":"jo"}'))).toBe(true);
  expect(isErased('output', brief(outputSummary(output)))).toBe(false);
  expect(isErased('output', brief(output))).toBe(true);
});
