import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { outputSummary } from '../../entry/output-summary.js';
import { brief } from './shown-text.js';
import { DigestSet, RecordGaps } from './record-gaps.js';

describe('a set of digests', () => {
  it('has what was added to it, and nothing else, however much it is', () => {
    const set = new DigestSet(randomBytes(16));
    for (let i = 0; i < 20_000; i++) set.add(`exec_${i}`);
    for (let i = 0; i < 20_000; i++) set.add(`exec_${i}`);
    expect(set.size).toBe(20_000);
    const has = (n: number) => set.has(`exec_${n}`);
    expect([0, 1, 9_999, 19_999].every(has)).toBe(true);
    expect([20_000, 20_001, 99_999].some(has)).toBe(false);
  });
});

it('gaps are told apart by kind, organization and id', () => {
  const gaps = new RecordGaps(randomBytes(16));
  gaps.add({ kind: 'execution', organizationId: 'org_a', id: 'x', isBlank: true });
  gaps.add({ kind: 'request', organizationId: 'org_a', id: 'x', isBlank: false, shown: { note: '[erased]', action: 'a' } });
  expect(gaps.isBlank('execution org_a x')).toBe(true);
  const isErased = (key: string, name: string, text = 'jo') => gaps.erasedIn(key)(name, brief(text));
  expect(isErased('execution org_a x', 'note')).toBe(false);
  expect(isErased('request org_a x', 'note')).toBe(true);
  expect(isErased('request org_b x', 'note')).toBe(false);
  expect(isErased('request org_a x', 'action')).toBe(false);
  expect(gaps.isBlank('execution org_b x')).toBe(false);
});

it('what somebody wrote with the mark in it is not erased where it is told so, and of an output that is its beginning', () => {
  const gaps = new RecordGaps(randomBytes(16));
  const [input, output] = ['{"to":"[erased]"}', `"${'x'.repeat(2_000)} [erased]"`];
  gaps.add({ kind: 'execution', organizationId: 'org_a', id: 'x', isBlank: false, shown: { input, output } });
  const isErased = gaps.erasedIn('execution org_a x');
  expect(isErased('input', brief(input))).toBe(false);
  expect(isErased('input', brief('{"to":"jo"}'))).toBe(true);
  expect(isErased('output', brief(outputSummary(output)))).toBe(false);
  expect(isErased('output', brief(output))).toBe(true);
});
