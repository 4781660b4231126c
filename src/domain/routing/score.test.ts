import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RISK_LEVELS } from '../gate/vocabulary.js';
import { type Candidate, FRESH_NODE_MS, rank, type Rejection, type Wanted, WEIGHTS, whyRejected } from './score.js';

const wanted: Wanted = { capabilities: ['file.read'], tags: [], exclude: [], chain: [], needsNode: false };
const agent = (parts: Partial<Candidate> = {}): Candidate => ({
  id: 'agt_1', status: 'active', riskLevel: 'limited', tags: [], isStopped: false, holds: ['file.read'], blocked: [], load: 0,
  ended: 0, executed: 0, ...parts,
});

describe('who is eligible', () => {
  it.each<[Rejection | undefined, string, Partial<Candidate>, Partial<Wanted>]>([
    [undefined, 'who holds it', {}, {}],
    ['out_of_service', 'a deactivated agent', { status: 'deactivated' }, {}],
    ['stopped', 'a stopped one', { isStopped: true }, {}],
    ['not_granted', 'one without a grant', { holds: [] }, {}],
    ['not_granted', 'one that holds one of two', {}, { capabilities: ['file.read', 'web.search'] }],
    ['blocked', 'one whose grant blocks', { blocked: ['file.read'] }, {}],
    ['other_team', 'one of another team', { teamId: 'team_2' }, { teamId: 'team_1' }],
    [undefined, 'one of the team', { teamId: 'team_1' }, { teamId: 'team_1' }],
    ['no_tag', 'one without any of the tags', { tags: ['a'] }, { tags: ['b', 'c'] }],
    [undefined, 'one with one of the tags', { tags: ['a', 'c'] }, { tags: ['b', 'c'] }],
    ['excluded', 'one that is excluded', {}, { exclude: ['agt_1'] }],
    ['in_chain', 'one that is in the chain', {}, { chain: ['agt_1'] }],
    ['no_fresh_node', 'one without a node, where one is needed', {}, { needsNode: true }],
    ['no_fresh_node', 'one whose node went silent', { nodeAgeMs: FRESH_NODE_MS + 1 }, { needsNode: true }],
    [undefined, 'one whose node is fresh', { nodeAgeMs: FRESH_NODE_MS }, { needsNode: true }],
  ])('%s: %s', (reason, _name, candidate, more) => {
    expect(whyRejected(agent(candidate), { ...wanted, ...more })).toBe(reason);
  });
});

describe('the score', () => {
  it('is the sum of the weighted factors, 1 at most', () => {
    expect(Object.values(WEIGHTS).reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1, 12);
    const [best] = rank([agent({ nodeAgeMs: 0, riskLevel: 'minimal', ended: 1e9, executed: 1e9 })], wanted).eligible;
    expect(best!.score).toBeCloseTo(1, 6);
    expect(rank([agent()], wanted).eligible[0]).toMatchObject({
      factors: { freshness: 0, load: 1, success: 0.5, tags: 1, risk: 0.7 }, score: expect.closeTo(0.25 + 0.125 + 0.1 + 0.07, 9),
    });
  });

  it.each<[string, Partial<Candidate>, Partial<Candidate>]>([
    ['a fresher node', { nodeAgeMs: 1_000 }, { nodeAgeMs: 61_000 }],
    ['a node before none', { nodeAgeMs: 1_000 }, {}],
    ['less load', { load: 1 }, { load: 2 }],
    ['more success', { ended: 10, executed: 9 }, { ended: 10, executed: 5 }],
    ['more of the tags', { tags: ['x', 'y'] }, { tags: ['x'] }],
    ['less risk', { riskLevel: 'minimal' }, { riskLevel: 'high' }],
    ['the lower id, all else equal', {}, {}],
  ])('prefers %s', (_name, better, worse) => {
    const asked = { ...wanted, tags: ['x', 'y'] };
    const pair = [agent({ tags: ['x'], ...worse, id: 'agt_2' }), agent({ tags: ['x'], ...better, id: 'agt_1' })];
    expect(rank(pair, asked).eligible.map(({ agentId }) => agentId)).toEqual(['agt_1', 'agt_2']);
  });
});

const candidates = fc.uniqueArray(
  fc.record({
    id: fc.integer({ min: 0, max: 10_000 }).map((n) => `agt_${n}`), status: fc.constantFrom('active', 'active', 'deactivated'),
    riskLevel: fc.constantFrom(...RISK_LEVELS), tags: fc.subarray(['x', 'y', 'z']), isStopped: fc.boolean(),
    holds: fc.subarray(['file.read', 'web.search']), blocked: fc.subarray(['file.read', 'web.search']),
    load: fc.nat(50), ended: fc.nat(20), executed: fc.nat(20), age: fc.option(fc.nat(100_000_000), { nil: undefined }),
    team: fc.option(fc.constantFrom('team_1', 'team_2'), { nil: undefined }),
  }).map(({ age, team, ended, executed, ...rest }): Candidate => ({
    ...rest, ended: Math.max(ended, executed), executed, ...(age === undefined ? {} : { nodeAgeMs: age }),
    ...(team === undefined ? {} : { teamId: team }),
  })),
  { selector: ({ id }) => id, maxLength: 12 },
);
const asked = fc.record({
  capabilities: fc.subarray(['file.read', 'web.search'], { minLength: 1 }), tags: fc.subarray(['x', 'y', 'z']),
  exclude: fc.array(fc.nat(10_000).map((n) => `agt_${n}`), { maxLength: 3 }), chain: fc.constant([]), needsNode: fc.boolean(),
});

describe('for any agents and any task', () => {
  it('the order of the input is nothing', () => {
    fc.assert(fc.property(candidates, asked, fc.infiniteStream(fc.nat()), (agents, task, keys) => {
      const shuffled = agents.map((one) => ({ one, key: keys.next().value as number })).sort((a, b) => a.key - b.key);
      expect(rank(shuffled.map(({ one }) => one), task)).toEqual(rank(agents, task));
    }));
  });

  it('the first few are the first of all', () => {
    fc.assert(fc.property(candidates, asked, fc.integer({ min: 1, max: 5 }), (agents, task, most) => {
      const { eligible, rejected } = rank(agents, task);
      expect(rank(agents, task, most)).toEqual({ eligible: eligible.slice(0, most), rejected: rejected.slice(0, most) });
    }));
  });

  it('an ineligible agent more changes nothing for the others', () => {
    fc.assert(fc.property(candidates, asked, fc.constantFrom<Partial<Candidate>>({ status: 'removed' }, { isStopped: true }, { holds: [] }),
      (agents, task, broken) => {
        const more = agent({ ...broken, id: 'agt_other', nodeAgeMs: 0, riskLevel: 'minimal' });
        expect(rank([...agents, more], task).eligible).toEqual(rank(agents, task).eligible);
      }));
  });

  it('of two agents that are alike but for their nodes, the fresher never loses', () => {
    fc.assert(fc.property(candidates, asked, fc.nat(10_000_000_000), fc.integer({ min: 1, max: 10_000_000_000 }),
      (agents, task, age, older) => {
        for (const one of agents) {
          const fresher = { ...one, id: 'agt_z', nodeAgeMs: age };
          const staler = { ...one, id: 'agt_a', nodeAgeMs: age + older };
          const { eligible } = rank([staler, fresher], { ...task, needsNode: false });
          if (eligible.length > 0) expect(eligible[0]!.agentId).toBe('agt_z');
        }
      }));
  });
});
