import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decideChain, type Delegator } from './decide-chain.js';
import type { GateDecision } from './decide.js';
import { HITL_MODES, type HitlMode, RISK_LEVELS, strictest } from './vocabulary.js';

const REASONS = [{ rule: 'grant_mode', detail: 'x' }] as const;
function decision(mode: HitlMode | 'refuse' | 'invalid'): GateDecision {
  const same = { reasons: REASONS, flagged: false };
  switch (mode) {
    case 'refuse':
      return { kind: 'refuse', code: 'CAPABILITY_NOT_GRANTED', recorded: true, detail: 'none', ...same };
    case 'invalid':
      return { kind: 'invalid', code: 'INVALID_INPUT', errors: [], ...same };
    case 'block':
      return { kind: 'block', effectiveMode: mode, reason: 'capability blocked by policy', byLimits: false, limits: [], ...same };
    case 'auto':
    case 'notify':
      return { kind: 'run', effectiveMode: mode, mode, notify: mode === 'notify', uses: [{ measure: '', amount: '1' }], ...same };
    default:
      return { kind: 'ask', effectiveMode: mode, mode, uses: [{ measure: '', amount: '1' }], limits: [], ...same };
  }
}
const delegator = (agentId: string, mode: Parameters<typeof decision>[0], grantId = `grt_${agentId}`): Delegator =>
  ({ agentId, riskLevel: 'limited', grantId, decision: decision(mode) });

describe('a chain', () => {
  it.each<[Parameters<typeof decision>[0], Parameters<typeof decision>[0], string]>([
    ['auto', 'refuse', 'refuse'], ['refuse', 'auto', 'refuse'], ['auto', 'invalid', 'invalid'], ['block', 'auto', 'block'],
    ['auto', 'block', 'block'], ['escalate', 'block', 'block'], ['auto', 'propose', 'propose'], ['propose', 'auto', 'propose'],
    ['propose', 'escalate', 'escalate'], ['notify', 'auto', 'notify'], ['auto', 'auto', 'auto'],
  ])('own %s behind %s is %s', (own, first, wanted) => {
    const decided = decideChain(decision(own), 'grt_own', [delegator('agt_a', first)]);
    expect('effectiveMode' in decided ? decided.effectiveMode : decided.kind).toBe(wanted);
  });

  it('names the agent that may not, and whose reason it is', () => {
    const decided = decideChain(decision('auto'), 'grt_own', [delegator('agt_a', 'auto'), delegator('agt_b', 'refuse')]);
    expect(decided).toMatchObject({ kind: 'refuse', detail: expect.stringContaining('agt_b'), recorded: true });
    expect(decided.reasons).toEqual([{ rule: 'grant_mode', detail: 'agt_b: x' }]);
  });

  it('counts each grant, and a shared one once', () => {
    const shared = [delegator('agt_a', 'auto', 'grt_own'), delegator('agt_b', 'auto', 'grt_b'), delegator('agt_c', 'auto', 'grt_b')];
    expect(decideChain(decision('auto'), 'grt_own', shared)).toMatchObject({
      uses: [{ measure: '', amount: '1' }, { measure: '', amount: '1', grantId: 'grt_b' }],
    });
  });

  it('is flagged where one of its agents is of high risk', () => {
    for (const riskLevel of RISK_LEVELS) {
      const decided = decideChain(decision('auto'), 'grt_own', [{ ...delegator('agt_a', 'auto'), riskLevel }]);
      expect(decided.flagged).toBe(riskLevel === 'high' || riskLevel === 'unacceptable');
    }
  });

  it('never lets through what an agent of it may not do, in whatever order they stand', () => {
    const mode = fc.constantFrom<Parameters<typeof decision>[0]>(...HITL_MODES, 'refuse');
    fc.assert(fc.property(mode, fc.array(mode, { maxLength: 4 }), (own, others) => {
      const decided = decideChain(decision(own), 'grt_own', others.map((one, i) => delegator(`agt_${i}`, one)));
      const all = [own, ...others];
      const wanted = all.includes('refuse') ? 'refuse' : strictest('auto', ...(all as HitlMode[]));
      expect('effectiveMode' in decided ? decided.effectiveMode : decided.kind).toBe(wanted);
    }));
  });
});
