import { describe, expect, it, test } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../json.js';
import type { ConditionFacts } from './conditions.js';
import { addAmounts, checkLimit, compareLimits, type Limit, measureOf } from './limits.js';

const AMOUNT = 'input.amount';

function factsOf(input: JsonObject): ConditionFacts {
  const agent = { id: 'agt_1', riskLevel: 'limited', tags: [] };
  return { input, agent, capability: 'invoice.pay', now: new Date('2026-05-01T12:00:00.000Z') };
}

const calls = (max: number, then: Limit['then'] = 'block', per: Limit['per'] = 'hour'): Limit => ({ max, per, then });
const sum = (max: number, then: Limit['then'] = 'block', expression = AMOUNT): Limit => ({ max, per: 'day', then, sum: expression });
const modesOf = (limits: readonly Limit[], used: readonly string[], input: JsonObject = {}) =>
  compareLimits(limits, used, factsOf(input)).reached.map(({ mode }) => mode);

describe('a limit of calls', () => {
  it.each<[string, Limit, string, Limit['then'][]]>([
    ['leaves the last one that fits', calls(10), '9', []],
    ['ends the one after it', calls(10), '10', ['block']],
    ['stays ended past it, as after it was lowered', calls(3), '10', ['block']],
    ['of none ends the first', calls(0), '0', ['block']],
    ['applies the mode it names', calls(1, 'propose'), '1', ['propose']],
    ['applies the mode it names', calls(1, 'escalate', 'total'), '1', ['escalate']],
  ])('%s', (_, limit, used, wanted) => {
    expect(modesOf([limit], [used])).toEqual(wanted);
  });

  it('counts one for a call', () => {
    expect(compareLimits([calls(10)], ['0'], factsOf({})).uses).toEqual([{ measure: '', amount: '1' }]);
  });

  it('counts once for all of its windows, and for a call that it ends too: whoever then waits has a share', () => {
    const { reached, uses } = compareLimits([calls(1, 'propose', 'minute'), calls(9, 'block', 'day')], ['1', '1'], factsOf({}));
    expect(reached.map(({ mode }) => mode)).toEqual(['propose']);
    expect(uses).toEqual([{ measure: '', amount: '1' }]);
  });

  it('counts as used up where nobody knows what is', () => {
    expect(modesOf([calls(10), calls(10, 'propose')], [])).toEqual(['block', 'propose']);
  });

  it('says which one it was, how much and in which time', () => {
    const details = compareLimits([calls(5), calls(1, 'propose', 'total')], ['0', '1'], factsOf({})).reached;
    expect(details).toEqual([{
      mode: 'propose', detail: 'Limit 2 (1 calls in total) is used up, so propose applies.',
      limit: { ...calls(1, 'propose', 'total'), number: 2, used: '1', amount: '1' },
    }]);
  });
});

describe('a limit of a sum', () => {
  it.each<[string, number, string, number, boolean]>([
    ['a tenth and two tenths are three tenths', 0.3, '0.1', 0.2, true],
    ['and not a hair more', 0.3, '0.1', 0.2000000000000001, false],
    ['up to the very limit', 100, '99.99', 0.01, true],
    ['a cent past it', 100, '99.99', 0.02, false],
    ['nothing at all fits into a limit that is reached', 100, '100', 0, true],
    ['more than it leaves in one call', 100, '0', 100.5, false],
    ['beyond whole numbers of doubles', 1e15, '9007199254740993', 0, false],
    ['a very small amount', 1, '1', 5e-324, false],
    ['a very large one', 1e15, '0', 1.7e308, false],
  ])('%s', (_, max, used, amount, fits) => {
    expect(modesOf([sum(max)], [used], { amount })).toEqual(fits ? [] : ['block']);
  });

  it('adds what the call gives, as decimal text', () => {
    const { uses } = compareLimits([sum(1)], ['0'], factsOf({ amount: 0.1 }));
    expect(uses).toEqual([{ measure: measureOf(sum(1)), amount: '0.1' }]);
  });

  it.each<[string, JsonObject, string]>([
    ['missing', {}, AMOUNT],
    ['text', { amount: '5' }, AMOUNT],
    ['negative', { amount: -0.01 }, AMOUNT],
    ['true', { amount: true }, AMOUNT],
    ['null', { amount: null }, AMOUNT],
    ['a list', { amount: [1] }, AMOUNT],
    ['no number', { amount: 0 }, 'input.amount / input.amount'],
    ['infinite', { amount: 1 }, 'input.amount / 0.0'],
    ['infinite the other way', { amount: -1 }, 'input.amount / 0.0'],
    ['no expression that is left', { amount: 1 }, 'input.amount >'],
  ])('that is %s applies the strictest mode of all limits and adds nothing', (_, input, expression) => {
    const limits = [sum(100, 'propose', expression), calls(100, 'escalate')];
    const { reached, uses } = compareLimits(limits, ['0', '0'], factsOf(input));
    expect(reached.map(({ mode }) => mode)).toEqual(['escalate']);
    expect(uses).toEqual([{ measure: '', amount: '1' }]);
  });

  it('never repeats the amount: reasons stand in the audit log', () => {
    const { reached } = compareLimits([sum(1), sum(1, 'block', 'input.other')], ['0', '0'], factsOf({ amount: 4711 }));
    expect(JSON.stringify(reached.map(({ detail }) => detail))).not.toContain('4711');
  });
});

describe('what holds of all limits', () => {
  const cents = fc.integer({ min: 0, max: 100_000 });
  const limit: fc.Arbitrary<Limit> = fc.record({
    max: fc.integer({ min: 0, max: 20 }),
    per: fc.constantFrom('minute', 'hour', 'day', 'total'),
    then: fc.constantFrom('propose', 'escalate', 'block'),
    sum: fc.option(fc.constantFrom(AMOUNT, 'input.other', 'input.amount + input.other'), { nil: undefined }),
  }).map(({ sum: expression, ...rest }) => ({ ...rest, ...(expression === undefined ? {} : { sum: expression }) }));
  const input = fc.record(
    { amount: fc.oneof(fc.integer({ min: -2, max: 25 }), fc.constant('text')), other: fc.integer({ min: 0, max: 25 }) },
    { requiredKeys: [] },
  );

  it('amounts of cents add up to the cent, in any order and number', () => {
    fc.assert(fc.property(fc.array(cents, { maxLength: 40 }), (all) => {
      const total = all.reduce((sofar, one) => addAmounts(sofar, String(one / 100)), '0');
      expect(Number(total)).toBe(all.reduce((sofar, one) => sofar + one, 0) / 100);
    }));
  });

  it('let through exactly as much as fits, call after call', () => {
    fc.assert(fc.property(fc.array(cents, { maxLength: 30 }), cents, (amounts, max) => {
      let used = '0';
      let spent = 0;
      for (const amount of amounts) {
        const { reached, uses } = compareLimits([sum(max / 100)], [used], factsOf({ amount: amount / 100 }));
        expect(reached.length === 0).toBe(spent + amount <= max);
        if (reached.length > 0) continue;
        spent += amount;
        used = addAmounts(used, uses[0]!.amount);
      }
    }));
  });

  it('do not depend on their order', () => {
    const listed = fc.array(fc.tuple(limit, fc.integer({ min: 0, max: 25 }).map(String)), { maxLength: 6 });
    const shuffled = listed.chain((pairs) => fc.tuple(fc.constant(pairs), fc.shuffledSubarray(pairs, { minLength: pairs.length })));
    fc.assert(fc.property(shuffled, input, ([one, other], drawn) => {
      const [left, right] = [one, other].map((pairs) =>
        compareLimits(pairs.map(([of]) => of), pairs.map(([, used]) => used), factsOf(drawn as JsonObject)));
      const modes = (compared: typeof left) => compared!.reached.map(({ mode }) => mode).sort();
      const uses = (compared: typeof left) => compared!.uses.map(({ measure, amount }) => `${measure} ${amount}`).sort();
      expect([modes(right), uses(right)]).toEqual([modes(left), uses(left)]);
    }));
  });

  it('become no milder with more use', () => {
    fc.assert(fc.property(limit, cents, cents, input, (one, less, more, drawn) => {
      const before = modesOf([one], [String(less)], drawn as JsonObject);
      const after = modesOf([one], [String(less + more)], drawn as JsonObject);
      expect(after.length).toBeGreaterThanOrEqual(before.length);
    }));
  });
});

describe('what may be stored as a limit', () => {
  it.each<[string, Limit, 'max' | 'sum' | 'ok']>([
    ['a whole number of calls', calls(10), 'ok'],
    ['none at all', calls(0), 'ok'],
    ['a fraction of a call', calls(1.5), 'max'],
    ['a fraction of a sum', sum(1.5), 'ok'],
    ['less than nothing', sum(-1), 'max'],
    ['no number', sum(Number.NaN), 'max'],
    ['without end', sum(Number.POSITIVE_INFINITY), 'max'],
    ['too much', calls(1e15 + 1), 'max'],
    ['a sum that is a truth', sum(1, 'block', 'input.amount > 1.0'), 'sum'],
    ['a sum that is text', sum(1, 'block', '"a"'), 'sum'],
    ['a sum of an unknown name', sum(1, 'block', 'user.amount'), 'sum'],
    ['a sum that cannot be read', sum(1, 'block', 'input.'), 'sum'],
  ])('%s', (_, limit, wanted) => {
    const check = checkLimit(limit);
    expect(check.ok ? 'ok' : check.member).toBe(wanted);
  });

  it('says where in a sum the mistake is', () => {
    expect(checkLimit(sum(1, 'block', 'input.a + user.b'))).toMatchObject({ member: 'sum', position: { line: 1, column: 11 } });
  });
});

describe('a measure', () => {
  const measure = (sum: string) => measureOf({ max: 1, per: 'total', sum, then: 'block' });

  test.each([
    ['input.amount', 'input.amount '], ['input.amount + 1', 'input . amount+1'], ['input.a * (2)', 'input.a*2'],
    ['input.items.map(i, i.n).size()', 'input.items.map( i , i.n ) .size()'],
  ])('is the same for %s and %s', (one: string, other: string) => {
    expect(measure(one)).toBe(measure(other));
  });

  test('differs where the expression does', () => {
    const sums = ['input.amount', 'input.amounts', 'input.amount + 0.0', 'input.items.map(i, i.n).size()', 'input.items.size()'];
    const measures = sums.map(measure);
    expect(new Set(measures).size).toBe(measures.length);
    expect(measureOf({ max: 1, per: 'total', then: 'block' })).toBe('');
  });
});
