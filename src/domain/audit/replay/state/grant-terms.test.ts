import { describe, expect, it } from '@jest/globals';
import { CONDITION_LENGTH_MAX, CONDITIONS_MAX } from '../../../gate/conditions.js';
import { LIMIT_MAX, LIMITS_MAX } from '../../../gate/limits.js';
import { APPROVALS_MAX, GROUPS_MAX } from '../../../hitl/quorum.js';
import type { JsonValue } from '../../../json.js';
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

describe('more than a route takes', () => {
  const times = (count: number, item: JsonValue): JsonValue => Array.from({ length: count }, () => item);
  const condition = (length: number) => ({ when: 'x'.repeat(length), hitlMode: 'propose' });
  const limit = (more: object) => ({ max: 1, per: 'day', then: 'block', ...more });

  it.each<[string, (value: JsonValue) => unknown, JsonValue, JsonValue]>([
    ['conditions', conditionsIn, times(CONDITIONS_MAX, condition(1)), times(CONDITIONS_MAX + 1, condition(1))],
    ['characters of a condition', conditionsIn, [condition(CONDITION_LENGTH_MAX)], [condition(CONDITION_LENGTH_MAX + 1)]],
    ['limits', limitsIn, times(LIMITS_MAX, limit({})), times(LIMITS_MAX + 1, limit({}))],
    ['characters of a sum', limitsIn, [limit({ sum: 'x'.repeat(CONDITION_LENGTH_MAX) })],
      [limit({ sum: 'x'.repeat(CONDITION_LENGTH_MAX + 1) })]],
    ['of a limit', limitsIn, [limit({ max: LIMIT_MAX })], [limit({ max: 2 * LIMIT_MAX })]],
    ['less of a limit', limitsIn, [limit({ max: 0 })], [limit({ max: -1 })]],
    ['approvals', quorumIn, { approvals: APPROVALS_MAX }, { approvals: APPROVALS_MAX + 1 }],
    ['groups', quorumIn, { approvals: 2, groups: times(GROUPS_MAX, { role: 'admin' }) },
      { approvals: 2, groups: times(GROUPS_MAX + 1, { role: 'admin' }) }],
  ])('%s are none', (_, read, most, more) => {
    expect(read(most)).toEqual(most);
    expect(read(more)).toBeUndefined();
  });
});
