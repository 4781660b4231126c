import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
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
  gaps.add({ kind: 'execution', organizationId: 'org_a', id: 'x', isBlank: true, isErased: false });
  gaps.add({ kind: 'request', organizationId: 'org_a', id: 'x', isBlank: false, isErased: true });
  expect(gaps.isBlank('execution org_a x')).toBe(true);
  expect(gaps.isErased('execution org_a x')).toBe(false);
  expect(gaps.isErased('request org_a x')).toBe(true);
  expect(gaps.isBlank('execution org_b x')).toBe(false);
});
