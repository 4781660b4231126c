import { describe, expect, it } from '@jest/globals';
import { checkConnector } from './connector.js';
import { decide, grantEffectiveMode, type GateDecision, type GateQuestion } from './decide.js';
import { HARDCODED } from './catalogue.js';
import type { GrantWord, HitlMode, RiskLevel } from './vocabulary.js';
import { LIMITS, type Case, everyCase, questionOf } from '../../../test/support/gate/gate-cases.js';

const WORDS: Record<GrantWord, [ordinary: number, risky: number]> = {
  auto: [0, 0], never: [0, 0], notify: [1, 1], propose: [2, 2], always: [2, 2], on_risk: [0, 2], escalate: [3, 3], block: [4, 4],
};
const CONDITION_RANK: Record<Case['condition'], number> = {
  none: 0, auto: 0, notify: 1, propose: 2, escalate: 3, block: 4, does_not_hold: 0, cannot: 3, cannot_block: 4,
};
const LIMIT_RANK: Record<Case['limit'], number> = { none: 0, has_room: 0, propose: 2, escalate: 3, block: 4, no_amount: 3 };
function oracle(one: Case): string {
  const granted = one.grant === 'active' || one.grant === 'unexpired';
  if (one.token === 'lacks') return `refuse CAPABILITY_NOT_${granted ? 'IN_TOKEN' : 'GRANTED'} unrecorded`;
  if (one.stopped) return 'refuse STOPPED recorded';
  if (one.status !== 'active') return 'refuse AGENT_INACTIVE recorded';
  if (!granted) return 'refuse CAPABILITY_NOT_GRANTED recorded';
  const risky = one.risk === 'high' || one.risk === 'unacceptable' ? 1 : 0;
  const rank = Math.max(one.hardcoded ? 3 : WORDS[one.word][risky], CONDITION_RANK[one.condition], LIMIT_RANK[one.limit]);
  const effective = ['auto', 'notify', 'propose', 'escalate', 'block'][rank]!;
  if (rank === 4) return 'block block';
  if (rank <= 1) return `run ${effective} as ${effective}`;
  return one.skipHitl && !one.hardcoded ? `run ${effective} as auto` : `ask ${effective}`;
}

function described(decision: GateDecision): string {
  switch (decision.kind) {
    case 'refuse':
      return `refuse ${decision.code} ${decision.recorded ? 'recorded' : 'unrecorded'}`;
    case 'invalid':
      return 'invalid';
    case 'block':
      return `block ${decision.effectiveMode}`;
    case 'ask':
      return `ask ${decision.mode}`;
    case 'run':
      return `run ${decision.effectiveMode} as ${decision.mode}`;
  }
}

describe('the gate, over the whole cross product', () => {
  it('decides as the interface says', () => {
    const seen = new Map<string, number>();
    const wrong: string[] = [];
    let cases = 0;
    for (const one of everyCase()) {
      cases++;
      const decision = decide(questionOf(one));
      const [got, wanted] = [described(decision), oracle(one)];
      if (got !== wanted) wrong.push(`${JSON.stringify(one)}: ${got}, wanted ${wanted}`);
      const flagged = one.risk === 'high' || one.risk === 'unacceptable';
      if (decision.flagged !== flagged) wrong.push(`${JSON.stringify(one)}: flagged ${decision.flagged}`);
      if (decision.reasons.length === 0) wrong.push(`${JSON.stringify(one)}: no reasons`);
      if (decision.kind === 'run' && decision.notify !== (decision.mode === 'notify')) wrong.push(`${got}: notify`);
      if (decision.kind === 'ask' && decision.mode !== decision.effectiveMode) wrong.push(`${JSON.stringify(one)}: modes differ`);
      seen.set(wanted, (seen.get(wanted) ?? 0) + 1);
    }
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(cases).toBe(8 * 2 * 4 * 6 * 9 * 2 * (3 * 2 * 2 + LIMITS.length - 1));
    // Every outcome that the rules know did come up, so the oracle cannot have been trivially satisfied.
    expect([...seen.keys()].sort()).toEqual([
      'ask escalate', 'ask propose', 'block block',
      'refuse AGENT_INACTIVE recorded', 'refuse CAPABILITY_NOT_GRANTED recorded', 'refuse CAPABILITY_NOT_GRANTED unrecorded',
      'refuse CAPABILITY_NOT_IN_TOKEN unrecorded', 'refuse STOPPED recorded',
      'run auto as auto', 'run escalate as auto', 'run notify as notify', 'run propose as auto',
    ]);
  });

  it('never runs a hardcoded capability, whatever else is said', () => {
    const run = [...everyCase()].filter((one) => one.hardcoded && decide(questionOf(one)).kind === 'run');
    expect(run.slice(0, 5)).toEqual([]);
  });
});

const CALM: Case = {
  word: 'auto', hardcoded: false, risk: 'limited', grant: 'active', condition: 'none', limit: 'none', skipHitl: false, token: 'has',
    status: 'active', stopped: false,
};

describe('the order of checks and the reasons', () => {
  const connector = () => {
    const check = checkConnector({ type: 'http', method: 'POST', url: 'https://x.test/{input.id}' });
    if (!check.ok) throw new Error('connector');
    return check.connector;
  };
  const withDefinition = (parts: object, one: Partial<Case> = {}): GateQuestion => {
    const question = questionOf({ ...CALM, ...one });
    return { ...question, definition: { ...question.definition!, ...parts } };
  };

  it('looks at the input after the grant and before the mode', () => {
    const schema = { inputSchema: { type: 'object', required: ['to'] } };
    expect(decide(withDefinition(schema))).toMatchObject({
      kind: 'invalid', code: 'INVALID_INPUT', errors: [{ pointer: '/input/to' }], reasons: [{ rule: 'input_schema' }],
    });
    expect(decide(withDefinition(schema, { word: 'block' })).kind).toBe('invalid');
    expect(decide(withDefinition(schema, { grant: 'revoked' })).kind).toBe('refuse');
    expect(decide(withDefinition(schema, { stopped: true }))).toMatchObject({ code: 'STOPPED' });
  });

  it('refuses what the connector could not send before a human is asked', () => {
    expect(decide(withDefinition({ connector: connector() }, { word: 'always' }))).toMatchObject({
      kind: 'invalid', errors: [{ pointer: '/input/id' }], reasons: [{ rule: 'connector_input' }],
    });
    const both = { connector: connector(), inputSchema: { type: 'object', required: ['to'] } };
    expect(decide(withDefinition(both))).toMatchObject({ errors: [{ pointer: '/input/to' }] });
  });

  it('names the rules that decided', () => {
    const rules = (one: Partial<Case>) => decide(questionOf({ ...CALM, ...one })).reasons.map(({ rule }) => rule);
    expect(rules({})).toEqual(['grant_mode']);
    expect(rules({ hardcoded: true })).toEqual(['hardcoded']);
    expect(rules({ condition: 'propose' })).toEqual(['grant_mode', 'condition']);
    expect(rules({ condition: 'does_not_hold' })).toEqual(['grant_mode']);
    expect(rules({ word: 'always', skipHitl: true })).toEqual(['grant_mode', 'skip_hitl']);
    expect(rules({ token: 'lacks' })).toEqual(['token']);
    expect(rules({ stopped: true })).toEqual(['stop']);
    expect(rules({ status: 'deactivated' })).toEqual(['agent_status']);
    expect(rules({ grant: 'expired' })).toEqual(['grant']);
  });

  it('says that a condition could not be evaluated, and gives its reason', () => {
    const decision = decide(questionOf({ ...CALM, condition: 'cannot' }));
    expect(decision.reasons[1]!.detail).toBe(
      'Condition 1 cannot be evaluated (a member it reads is missing, at 1:6), so it holds, and asks for escalate',
    );
    const question = questionOf({ ...CALM, condition: 'propose' });
    const grant = { ...question.grant!, conditions: [{ when: 'true', hitlMode: 'propose' as const, reason: 'over the limit' }] };
    expect(decide({ ...question, grant }).reasons[1]!.detail).toBe('Condition 1 holds and asks for propose: over the limit');
  });

  it('takes the strictest of several conditions, in any order', () => {
    const question = questionOf({ ...CALM, condition: 'notify' });
    const of = (...modes: HitlMode[]) => ({ ...question, grant: { ...question.grant!, conditions: modes.map((hitlMode) =>
      ({ when: 'true', hitlMode })) } });
    expect(decide(of('notify', 'block', 'propose'))).toMatchObject({ kind: 'block' });
    expect(decide(of('propose', 'notify'))).toMatchObject({ kind: 'ask', mode: 'propose' });
  });

  it('lets a limit end what neither grant nor condition would, a hardcoded capability too', () => {
    expect(decide(questionOf({ ...CALM, hardcoded: true, limit: 'block' }))).toMatchObject({
      kind: 'block', reason: 'capability blocked by policy', reasons: [{ rule: 'hardcoded' }, { rule: 'limit' }],
    });
    expect(decide(questionOf({ ...CALM, condition: 'escalate', limit: 'propose' }))).toMatchObject({
      kind: 'ask', mode: 'escalate', reasons: [{ rule: 'grant_mode' }, { rule: 'condition' }, { rule: 'limit' }],
    });
    expect(decide(questionOf({ ...CALM, condition: 'propose', limit: 'escalate' }))).toMatchObject({ kind: 'ask', mode: 'escalate' });
  });

  it('counts what begins or waits, and nothing that is blocked, refused or without a limit', () => {
    const usesOf = (one: Partial<Case>) => {
      const decision = decide(questionOf({ ...CALM, ...one }));
      return 'uses' in decision ? decision.uses.map(({ amount }) => amount) : 'none';
    };
    expect(usesOf({ limit: 'has_room' })).toEqual(['1']);
    expect(usesOf({ limit: 'propose' })).toEqual(['1']);
    expect(usesOf({ limit: 'no_amount' })).toEqual(['1']);
    expect(usesOf({ limit: 'none' })).toEqual([]);
    expect(usesOf({ limit: 'block' })).toBe('none');
    expect(usesOf({ limit: 'has_room', status: 'deactivated' })).toBe('none');
  });

  it('takes a limit whose use nobody gave as used up', () => {
    const { used: _unknown, ...question } = questionOf({ ...CALM, limit: 'has_room' });
    expect(decide(question)).toMatchObject({ kind: 'block', reasons: [{ rule: 'grant_mode' }, { rule: 'limit' }] });
  });

  it('says to an agent with an old token what to do', () => {
    expect(decide(questionOf({ ...CALM, token: 'lacks' }))).toMatchObject({ detail: expect.stringMatching(/refresh/i) });
  });

  it('refuses a capability that does not exist, grant or not', () => {
    const { definition: _gone, ...question } = questionOf(CALM);
    expect(decide(question)).toMatchObject({ kind: 'refuse', code: 'CAPABILITY_NOT_GRANTED', recorded: true });
  });

  it('protects the five by name too, should a row have lost its mark', () => {
    for (const name of HARDCODED) {
      const question = questionOf(CALM);
      const stripped = { ...question, definition: { name, hardcoded: false, digest: 'd' },
        call: { ...question.call, capability: name, tokenCapabilities: 'any' as const, skipHitl: true } };
      expect(decide(stripped)).toMatchObject({ kind: 'ask', mode: 'escalate' });
    }
  });

  it('shows the mode of a grant without a call', () => {
    const agent = (riskLevel: RiskLevel) => ({ riskLevel });
    expect(grantEffectiveMode({ hitlMode: 'block' }, { name: 'phone.call', hardcoded: true }, agent('minimal'))).toBe('escalate');
    expect(grantEffectiveMode({ hitlMode: 'on_risk' }, { name: 'web.post', hardcoded: false }, agent('high'))).toBe('propose');
    expect(grantEffectiveMode({ hitlMode: 'never' }, { name: 'web.post', hardcoded: false }, agent('high'))).toBe('auto');
  });
});
