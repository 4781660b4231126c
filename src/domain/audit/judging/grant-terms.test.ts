import { describe, expect, it } from '@jest/globals';
import type { JsonValue } from '../../json.js';
import { conditionsIn, limitsIn, quorumIn } from './grant-terms.js';

const NO_LIST: readonly JsonValue[] = [null, {}, 'x', true, 1, [null], [[]], [{}], ['x']];

describe('conditions', () => {
  it.each<[JsonValue]>([
    [[]], [[{ when: 'true', hitlMode: 'propose' }, { when: 'input.a', hitlMode: 'auto', reason: 'r' }]],
  ])('%j', (value) => {
    expect(conditionsIn(value)).toEqual(value);
  });

  it.each<[JsonValue]>([
    ...NO_LIST.map((value): [JsonValue] => [value]), [[{ when: null }]], [[{ when: 'true' }]], [[{ when: 'true', hitlMode: 'never' }]],
    [[{ when: 'true', hitlMode: 'auto', reason: {} }]], [[{ when: 'true', hitlMode: 'auto' }, null]],
  ])('%j are none', (value) => {
    expect(conditionsIn(value)).toBeUndefined();
  });

  it('are none where nothing is said of any', () => {
    expect([conditionsIn(undefined), limitsIn(undefined), quorumIn(undefined)]).toEqual([[], [], null]);
  });
});

describe('limits', () => {
  it.each<[JsonValue]>([
    [[]], [[{ max: 0, per: 'day', then: 'propose' }, { max: 1.5, per: 'total', sum: 'input.a', then: 'block' }]],
  ])('%j', (value) => {
    expect(limitsIn(value)).toEqual(value);
  });

  it.each<[JsonValue]>([
    ...NO_LIST.map((value): [JsonValue] => [value]), [[{ max: '1', per: 'day', then: 'propose' }]],
    [[{ max: Infinity, per: 'day', then: 'block' }]],
    [[{ max: 1, per: 'constructor', then: 'propose' }]], [[{ max: 1, per: 'day', then: 'auto' }]],
    [[{ max: 1, per: 'day', then: 'block', sum: 1 }]],
  ])('%j are none', (value) => {
    expect(limitsIn(value)).toBeUndefined();
  });
});

describe('a quorum', () => {
  it.each<[JsonValue]>([[{ approvals: 2 }], [{ approvals: 3, groups: [{ teamId: 'team_a' }, { role: 'admin' }] }]])('%j', (value) => {
    expect(quorumIn(value)).toEqual(value);
  });

  it.each<[JsonValue]>([
    [null], [[]], ['x'], [{}], [{ approvals: '2' }], [{ approvals: 1 }], [{ approvals: -1 }], [{ approvals: 1e999 }],
    [{ approvals: 2, groups: null }], [{ approvals: 2, groups: [null] }], [{ approvals: 2, groups: [{}] }],
    [{ approvals: 2, groups: [{ role: 'viewer' }] }], [{ approvals: 2, groups: [{ teamId: 1 }] }],
    [{ approvals: 2, groups: [{ teamId: 'team_a', role: 'admin' }] }],
  ])('%j is none', (value) => {
    expect(quorumIn(value)).toBeUndefined();
  });
});
