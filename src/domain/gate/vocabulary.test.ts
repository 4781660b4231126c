import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { GRANT_WORDS, HITL_MODES, isGrantWord, isHighRisk, modeOfWord, RISK_LEVELS,
  strictest } from './vocabulary.js';

describe('the words of the gate', () => {
  it.each([
    ['never', 'unacceptable', 'auto'],
    ['always', 'minimal', 'propose'],
    ['on_risk', 'minimal', 'auto'],
    ['on_risk', 'limited', 'auto'],
    ['on_risk', 'high', 'propose'],
    ['on_risk', 'unacceptable', 'propose'],
    ['auto', 'unacceptable', 'auto'],
    ['notify', 'high', 'notify'],
    ['block', 'minimal', 'block'],
  ] as const)('%s at risk %s means %s', (word, risk, mode) => expect(modeOfWord(word, risk)).toBe(mode));

  it('gives every word a mode at every risk, and a mode is its own word', () => {
    for (const word of GRANT_WORDS) for (const risk of RISK_LEVELS) expect(HITL_MODES).toContain(modeOfWord(word, risk));
    for (const mode of HITL_MODES) for (const risk of RISK_LEVELS) expect(modeOfWord(mode, risk)).toBe(mode);
  });

  it('takes the strictest, whatever the order', () => {
    expect(strictest('auto', 'escalate', 'notify')).toBe('escalate');
    expect(strictest('block')).toBe('block');
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...HITL_MODES), { minLength: 1 }), (modes) => {
        const [first, ...others] = modes as [(typeof modes)[number], ...typeof modes];
        const worst = ['auto', 'notify', 'propose', 'escalate', 'block'].filter((mode) => modes.includes(mode as 'auto')).pop();
        expect(strictest(first, ...others)).toBe(worst);
      }),
    );
  });

  it('knows high risk and its own words only', () => {
    expect(RISK_LEVELS.filter(isHighRisk)).toEqual(['high', 'unacceptable']);
    expect(isGrantWord('on_risk')).toBe(true);
    for (const other of ['Auto', 'deny', '', null, 1, 'toString']) expect(isGrantWord(other)).toBe(false);
  });
});
