import fc from 'fast-check';
import { CATALOGUE, HARDCODED } from '../../../src/domain/gate/catalogue.js';
import type { Condition } from '../../../src/domain/gate/conditions.js';
import { decide, type GateDecision, type GateQuestion } from '../../../src/domain/gate/decide.js';
import { GRANT_WORDS, HITL_MODES, RISK_LEVELS, strictness } from '../../../src/domain/gate/vocabulary.js';
import type { Proof } from '../../support/proofs/proof.js';

const TAGS = ['finance', 'night', 'trial'];
const NAMES = [...CATALOGUE.map(({ name }) => name), 'invoice.issue'];

// What people write, and what they get wrong: members that are not there, types that do not fit, text that is no condition.
const source = fc.oneof(
  fc.integer({ min: 0, max: 9 }).map((limit) => `input.amount > ${limit}`),
  fc.constantFrom(...TAGS).map((tag) => `"${tag}" in agent.tags`),
  fc.constantFrom(...RISK_LEVELS).map((level) => `agent.riskLevel == "${level}"`),
  fc.constantFrom(...NAMES).map((name) => `capability == "${name}"`),
  fc.constantFrom('true', 'false', 'input.to.endsWith("@example.org")', 'has(input.amount) && input.amount > 5'),
  fc.constantFrom('input.missing.member > 1', 'input.to > 3', '1 / 0 == 1', 'input..amount', 'input.amount', ''),
);
const condition: fc.Arbitrary<Condition> = fc.record({ when: source, hitlMode: fc.constantFrom(...HITL_MODES) });

const input = fc.oneof(
  fc.constant({}),
  fc.record({ amount: fc.integer({ min: 0, max: 10 }), to: fc.constantFrom('a@example.org', 'b@example.net') }),
);

const question: fc.Arbitrary<GateQuestion> = fc
  .record({
    name: fc.constantFrom(...NAMES, ...HARDCODED),
    hitlMode: fc.constantFrom(...GRANT_WORDS),
    conditions: fc.array(condition, { maxLength: 3 }),
    riskLevel: fc.constantFrom(...RISK_LEVELS),
    status: fc.constantFrom('active', 'active', 'active', 'active', 'active', 'deactivated'),
    tags: fc.subarray(TAGS),
    input,
    inToken: fc.integer({ min: 0, max: 9 }).map((drawn) => drawn > 0),
    skipHitl: fc.boolean(),
  })
  .map((drawn) => ({
    definition: { name: drawn.name, hardcoded: isHardcoded(drawn.name), digest: 'fixed' },
    grant: {
      id: 'grt_1',
      version: 1,
      hitlMode: drawn.hitlMode,
      conditions: drawn.conditions,
      limits: [],
      timeoutSeconds: 1_800,
      timeoutAction: 'reject', reminders: [],
    },
    agent: { id: 'agt_1', riskLevel: drawn.riskLevel, status: drawn.status, tags: drawn.tags },
    stops: [],
    call: {
      capability: drawn.name,
      input: drawn.input,
      tokenCapabilities: drawn.inToken ? [drawn.name] : [],
      now: new Date('2026-11-21T12:00:00.000Z'),
      skipHitl: drawn.skipHitl,
    },
  }));

/**
 * Adding a condition to a grant never makes the gate milder: the effective mode stays or becomes stricter, and a refusal
 * stays the same refusal. And whatever grant, conditions and caller say, a hardcoded capability never runs by itself.
 */
export const proof: Proof = {
  name: 'conditions-only-tighten',
  title: 'A condition never makes the gate milder, and a hardcoded capability never runs without a human.',
  longCount: 200_000,
  needs: 'nothing',
  run: ({ count, seed, progress }) => {
    const coverage = { 'refused either way': 0, 'mode unchanged': 0, 'mode tightened': 0, 'hardcoded and asked or blocked': 0 };
    let checked = 0;
    const property = fc.property(question, condition, (before, added) => {
      checked += 1;
      progress(Math.min(checked, count));
      const [milder, stricter] = [decide(before), decide(withCondition(before, added))];
      const [was, is] = [modeOf(milder), modeOf(stricter)];
      if (was === undefined || is === undefined) {
        coverage['refused either way'] += 1;
        return milder.kind === stricter.kind && codeOf(milder) === codeOf(stricter);
      }
      if (isHardcoded(before.call.capability)) {
        if (milder.kind === 'run' || stricter.kind === 'run') return false;
        coverage['hardcoded and asked or blocked'] += 1;
      }
      coverage[is > was ? 'mode tightened' : 'mode unchanged'] += 1;
      return is >= was;
    });
    const found = fc.check(property, { seed, numRuns: count });
    const counterexample = found.failed ? JSON.stringify(found.counterexample, undefined, 2) : undefined;
    return Promise.resolve({ checked, counterexample, coverage });
  },
};

function withCondition(before: GateQuestion, added: Condition): GateQuestion {
  if (!before.grant) return before;
  return { ...before, grant: { ...before.grant, conditions: [...before.grant.conditions, added] } };
}

function modeOf(decision: GateDecision): number | undefined {
  return 'effectiveMode' in decision ? strictness(decision.effectiveMode) : undefined;
}

function codeOf(decision: GateDecision): string | undefined {
  return 'code' in decision ? decision.code : undefined;
}

// The interface's own list, not the product's test for it, so that a slip there is not a slip here.
function isHardcoded(name: string): boolean {
  return ['phone.call', 'finance.transfer', 'finance.payment', 'system.shutdown', 'data.delete'].includes(name);
}
