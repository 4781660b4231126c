import { describe, expect, it } from '@jest/globals';
import { AGENT, BEGIN, RecordedLog } from '../../../../test/support/memory/recorded-log.js';
import { append, type MemoryLog } from '../../../../test/support/memory/memory-log.js';
import { definitionDigest } from '../../gate/definition-digest.js';
import { newId } from '../../ids.js';
import type { AuditEvent } from '../catalogue/audit-events.js';
import { agentChain, organizationChain, PLATFORM_ORGANIZATION } from '../entry/chain.js';
import { SharedFacts } from './state/shared-facts.js';
import { readTwice, type Reading, RIGHT, wrong } from './replay-result.js';

const [OLD, FRESH, TEAM] = ['usr_old', 'usr_fresh', 'team_a'];

const user = (userId: string, role: string): AuditEvent => ({ type: 'admin.user_created', metadata: { userId, role } });
const renamed = (userId: string): AuditEvent => ({ type: 'admin.user_updated', metadata: { userId, name: 'Married' } });
const joined = (userId: string, role: string): AuditEvent =>
  ({ type: 'admin.team_changed', metadata: { teamId: TEAM, change: 'member_added', userId, role } });
const stop: AuditEvent = { type: 'admin.stop_started', metadata: { stopId: 'stp_1', scope: 'organization', reason: 'r' } };
const lifted: AuditEvent = { type: 'admin.stop_ended', metadata: { stopId: 'stp_1', scope: 'organization' } };

/** An agent whose grant asks; its request, which is right in any case, and what is said of how it was decided. */
async function decided(log: RecordedLog, by: readonly string[], more: object = {}) {
  const recorded = log.grant(100, { hitlMode: 'propose', ...more }).approved(101, by);
  const { right, ...rest } = await recorded.replayed();
  return { right: right - 1, ...rest };
}

const YES = { right: 1, notReplayable: {}, wrong: [] };
const SWEPT = { right: 0, notReplayable: { swept: 1 }, wrong: [] };
const no = (...wrongs: string[]) => ({ right: 0, notReplayable: {}, wrong: wrongs });

describe('what excuses a decision', () => {
  it.each<[string, Partial<Record<Reading, boolean>>, string]>([
    ['right as recorded', { 'as recorded': true }, 'right'], ['right at best', { 'at best': true }, 'not_replayable'],
    ['never right', {}, 'wrong'],
  ])('%s', (_, rights, kind) => {
    expect(readTwice((reading) => (rights[reading] ? RIGHT : wrong('no'))).kind).toBe(kind);
  });
});

describe('people of whom a sweep has taken the beginning', () => {
  const swept = () => new RecordedLog().organization(1, user(OLD, 'admin')).sweep(50);

  it('approve', async () => {
    expect(await decided(swept(), [OLD])).toEqual(SWEPT);
    expect(await decided(new RecordedLog().organization(1, user(OLD, 'admin')), [OLD])).toEqual(YES);
  });

  it('approve after a change that does not tell their role, and do so surely after one that does', async () => {
    expect(await decided(swept().organization(60, renamed(OLD)), [OLD])).toEqual(SWEPT);
    const recorded: AuditEvent = { type: 'admin.user_updated', metadata: { userId: OLD, role: 'admin' } };
    expect(await decided(swept().organization(60, recorded).organization(61, renamed(OLD)), [OLD])).toEqual(YES);
    expect(await decided(swept().organization(60, { ...recorded, metadata: { userId: OLD, role: 'viewer' } }), [OLD]))
      .toEqual(no(`${OLD} may not decide at level 0`));
    expect(await decided(swept().organization(60, { type: 'admin.user_deleted', metadata: { userId: OLD } }), [OLD]))
      .toEqual(no(`nobody called ${OLD} is there`));
  });

  it('vote before somebody whom the log knows', async () => {
    const quorum = { quorum: { approvals: 2 } };
    const log = () => swept().organization(60, user(FRESH, 'admin'));
    expect(await decided(log(), [OLD, FRESH], quorum)).toEqual({ ...SWEPT, notReplayable: { swept: 2 } });
    expect(await decided(log(), [FRESH], quorum)).toEqual(no('2 people have to approve, and the log knows of 1'));
    const viewer = log().organization(61, user('usr_viewer', 'viewer'));
    const mayNot = 'usr_viewer may not decide at level 0';
    expect((await decided(viewer, ['usr_viewer', FRESH], quorum)).wrong).toEqual([mayNot, mayNot]);
  });

  it('stand for their team', async () => {
    const quorum = { quorum: { approvals: 2, groups: [{ teamId: TEAM }] } };
    const recorded: AuditEvent = { type: 'admin.user_updated', metadata: { userId: OLD, role: 'admin' } };
    const log = () => swept().organization(60, recorded).organization(60, user(FRESH, 'admin'));
    expect(await decided(log(), [OLD, FRESH], quorum)).toEqual({ ...SWEPT, right: 1 });
    const left: AuditEvent = { type: 'admin.team_changed', metadata: { teamId: TEAM, change: 'member_removed', userId: OLD } };
    expect((await decided(log().organization(61, left), [OLD, FRESH], quorum)).wrong).toEqual([`nobody of team ${TEAM} has approved`]);
    expect(await decided(log().organization(61, joined(FRESH, 'member')), [OLD, FRESH], quorum)).toEqual({ ...YES, right: 2 });
  });

  it.each([['viewer', `${FRESH} may not decide at level 0`], ['member', `${FRESH} may not decide at level 0`], ['admin', undefined]])(
    'but a %s made after it is known', async (role, detail) => {
      expect(await decided(swept().organization(60, user(FRESH, role)), [FRESH])).toEqual(detail === undefined ? YES : no(detail));
    });
});

describe('stops whose start a sweep has taken', () => {
  const blocked = (log: RecordedLog, second: number) => log.agent(second, {
    type: 'execution.blocked', capability: 'web.search', metadata: { reason: 'STOPPED', input: {} },
  });

  it.each([
    ["the organization's", 'org_a', SWEPT], ["the platform's", PLATFORM_ORGANIZATION, SWEPT],
    ["nobody's", undefined, no('the gate lets it run (auto)')],
  ])('%s, still in force', async (_, organizationId, found) => {
    const log = new RecordedLog();
    if (organizationId !== undefined) log.organization(1, stop, organizationId).sweep(50, organizationId);
    expect(await blocked(log.grant(100), 101).replayed()).toEqual(found);
  });

  it('hold from the beginning of what is left to their end', async () => {
    const log = () => new RecordedLog().organization(1, stop).sweep(50).grant(90);
    expect(await blocked(log(), 100).organization(200, lifted).replayed()).toEqual(YES);
    expect(await log().begin(100).organization(200, lifted).replayed())
      .toEqual(no('the gate refuses it: A stop holds this agent: in force.'));
    expect(await log().organization(200, lifted).begin(300).replayed()).toEqual(YES);
  });

  it('make windows longer', async () => {
    const log = (is: 'swept' | 'whole') => {
      const recorded = new RecordedLog().organization(1, user(OLD, 'admin'));
      if (is === 'swept') recorded.sweep(50).organization(60, user(OLD, 'admin'));
      return recorded.grant(100, { hitlMode: 'propose' }).approved(101, [OLD], {}, 300);
    };
    expect(await log('whole').replayed()).toEqual({ right: 1, notReplayable: {}, wrong: ['its time was over'] });
    expect(await log('swept').replayed()).toEqual({ right: 1, notReplayable: { swept: 1 }, wrong: [] });
  });
});

const inputSchema = { type: 'object', required: ['q'] };
const digest = definitionDigest({ inputSchema } as never);
const defined: AuditEvent = {
  type: 'capability.definition_updated', capability: 'web.search',
  metadata: { capability: 'web.search', definition: digest, inputSchema },
};

describe('definitions and grants that a sweep has taken', () => {
  it('may have been what an entry says, as long as nothing else is recorded', async () => {
    const log = () => new RecordedLog().organization(1, defined).sweep(50).grant(100);
    expect(await log().begin(101, { definition: digest }).replayed()).toEqual(SWEPT);
    expect(await log().begin(101).replayed()).toEqual(YES);
    expect(await log().organization(60, defined).begin(101, { definition: digest, input: { q: 'x' } }).replayed()).toEqual(YES);
    expect(await log().organization(60, defined).begin(101).replayed()).toEqual(no('the capability was not defined as it says'));
  });

  it("a team's, where the agent has none of its own", async () => {
    const described = (teamId: string): AuditEvent => ({ type: 'agent.updated', metadata: { teamId } });
    const log = () => new RecordedLog().sweep(50);
    expect(await log().agent(60, described(TEAM)).begin(101).replayed()).toEqual(SWEPT);
    expect(await log().begin(101).replayed()).toEqual(no('grant grt_1 was not the one that held'));
    const own = log().agent(60, described(TEAM)).grant(70, { grantId: 'grt_own' });
    expect(await own.begin(101).replayed()).toEqual(no('grant grt_1 was not the one that held'));
    const blocked = log().agent(60, described(TEAM)).agent(101, {
      type: 'execution.blocked', capability: 'web.search', metadata: { reason: 'AGENT_INACTIVE', input: {} },
    });
    expect((await blocked.replayed()).wrong.length).toBe(1);
  });
});

describe('an agent whose registration and grants a sweep has taken', () => {
  const cut = () => new RecordedLog().organization(1, user(OLD, 'member')).grant(1).cut(2);
  const updated = (metadata: object): AuditEvent => ({ type: 'agent.updated', metadata } as AuditEvent);
  const granted = (metadata: object): AuditEvent => ({
    type: 'capability.granted', capability: 'web.search',
    metadata: {
      grantId: 'grt_1', version: 1, capability: 'web.search', hitlMode: 'auto', timeoutAction: 'reject', timeoutSeconds: 60, ...metadata,
    },
  } as AuditEvent);
  const stopped: AuditEvent = { type: 'admin.stop_started', metadata: { stopId: 'stp_a', scope: 'agent', reason: 'r' } };
  const revoked = (grantId: string): AuditEvent => ({
    type: 'capability.revoked', capability: 'web.search', metadata: { grantId, capability: 'web.search' },
  });

  it.each<[string, readonly AuditEvent[], object, string | undefined]>([
    ['nothing', [], {}, undefined],
    ['what makes it flagged', [updated({ riskLevel: 'high' })], { flagged: true }, undefined],
    ['what does not', [updated({ riskLevel: 'high' })], {}, 'the gate lets it run (auto)'],
    ['the grant', [granted({})], {}, undefined],
    ['a grant that blocks', [granted({ hitlMode: 'block' })], {}, 'the gate blocks it'],
    ['a grant that asks', [granted({ hitlMode: 'propose' })], {}, 'the gate asks a person first (propose)'],
    ['another grant', [granted({ grantId: 'grt_2' })], {}, 'grant grt_1 was not the one that held'],
    ["the grant's end", [revoked('grt_1')], {}, 'grant grt_1 was not the one that held'],
    ["another one's end", [revoked('grt_0')], {}, undefined],
    ['that it was deactivated', [{ type: 'agent.deactivated', metadata: {} }], {}, 'the gate refuses it: The agent is deactivated.'],
    ['a stop', [stopped], {}, 'the gate refuses it: A stop holds this agent: in force.'],
    ['a definition that it does not name', [], { definition: 'x'.repeat(43) }, 'the capability was not defined as it says'],
  ])('begins what the gate may have let run; recorded since: %s', async (_, since, more, wrong) => {
    const log = cut();
    for (const event of since) log.agent(910, event);
    expect(await log.begin(920, more).replayed()).toEqual(wrong === undefined ? SWEPT : no(wrong));
  });

  it('begins nothing of what always asks somebody', async () => {
    const held = { grantId: 'grt_9', grantVersion: 1, definition: definitionDigest({}) };
    const metadata = { executionId: newId('exec'), ...held, input: {}, reasons: [] };
    const log = cut().agent(920, { type: 'execution.started', capability: 'finance.transfer', metadata } as AuditEvent);
    expect(await log.replayed()).toEqual(no('the gate asks a person first (escalate)'));
  });

  it('holds what its tokens held, until they are revoked', async () => {
    expect(await cut().begin(920, {}, AGENT).replayed()).toEqual(SWEPT);
    expect(await cut().agent(910, { type: 'agent.tokens_revoked', metadata: { epoch: 1 } }).begin(920, {}, AGENT).replayed())
      .toEqual(no('no token or key of the agent held the capability'));
  });

  it.each<[string, readonly AuditEvent[], string, string | undefined]>([
    ['who may own it', [], OLD, undefined],
    ['who does not', [updated({ ownerId: FRESH, cleared: ['teamId'] })], OLD, `${OLD} may not decide at level 0`],
    ['nobody', [], 'usr_nobody', 'nobody called usr_nobody is there'],
  ])('is decided for by %s', async (_, since, by, wrong) => {
    const log = cut();
    for (const event of since) log.agent(910, event);
    log.agent(915, granted({ hitlMode: 'propose' })).approved(920, [by]);
    const found = await log.replayed();
    expect(found).toEqual(wrong === undefined ? { right: 0, notReplayable: { swept: 2 }, wrong: [] } : { ...SWEPT, wrong: [wrong] });
  });

  it('was in some team, or in none', async () => {
    const lead = () => new RecordedLog().organization(1, user(OLD, 'member')).organization(2, joined(OLD, 'member')).cut(1);
    const asks = granted({ hitlMode: 'propose' });
    const since = updated({ ownerId: FRESH });
    expect((await lead().agent(910, since).agent(915, asks).approved(920, [OLD]).replayed()).wrong).toEqual([]);
    const none = updated({ ownerId: FRESH, teamId: 'team_b' });
    expect((await lead().agent(910, none).agent(915, asks).approved(920, [OLD]).replayed()).wrong)
      .toEqual([`${OLD} may not decide at level 0`]);
  });
});

describe('a chain that begins with no registration', () => {
  it('has lost nothing by that', async () => {
    const recorded = new RecordedLog();
    recorded.log.entries = recorded.log.entries.filter(({ chain }) => chain !== AGENT);
    recorded.log.heads = recorded.log.heads.filter(({ chain }) => chain !== AGENT);
    expect((await recorded.begin(5).replayed()).wrong).toEqual(['grant grt_1 was not the one that held']);
  });
});

describe('an agent that was in several organizations', () => {
  const TRAVELLER = newId('agt');

  /** Registered in B, then in A, where its risk rose, then back in B, then in C. @param gone of A's stay, from its beginning */
  function arriving(gone: number, seq: number) {
    const log: MemoryLog = { entries: [], heads: [], leaves: [] };
    const tell = (organizationId: string, event: AuditEvent) => {
      const seq = log.entries.length + 1;
      const stamp = { id: newId('audit'), actorId: 'root', timestamp: new Date(BEGIN + seq * 1_000) };
      const entry = append(log, { ...event, chain: agentChain(organizationId, TRAVELLER), agentId: TRAVELLER }, stamp);
      log.entries[seq - 1] = { ...entry, seq };
    };
    tell('org_b', { type: 'agent.registered', metadata: { name: 'a', riskLevel: 'limited' } });
    tell('org_b', { type: 'agent.transferred', metadata: { direction: 'out' } } as AuditEvent);
    tell('org_a', { type: 'agent.transferred', metadata: { direction: 'in' } } as AuditEvent);
    tell('org_a', { type: 'agent.updated', metadata: { riskLevel: 'high' } });
    tell('org_a', { type: 'agent.updated', metadata: { tags: ['young'] } } as AuditEvent);
    tell('org_a', { type: 'agent.transferred', metadata: { direction: 'out' } } as AuditEvent);
    tell('org_b', { type: 'agent.transferred', metadata: { direction: 'in' } } as AuditEvent);
    tell('org_b', { type: 'agent.transferred', metadata: { direction: 'out' } } as AuditEvent);
    const shared = new SharedFacts(() => true);
    for (const entry of log.entries) if (entry.organizationId !== 'org_a' || entry.seq > 2 + gone) shared.add(entry);
    return shared.arrivingAt(TRAVELLER, seq);
  }

  it.each([[0, true], [1, false], [2, false], [3, false], [4, false]])('%i entries of its stay are gone', (gone, isKnown) => {
    for (const agent of [arriving(gone, 7), arriving(gone, 9)]) {
      expect(agent.isKnown).toBe(isKnown);
      if (isKnown) expect(agent.riskLevel).toBe('high');
    }
  });
});

describe('clocks, as the order of the tree shows them', () => {
  const asDefined = { definition: digest, input: { q: 'x' } };

  it('one that ran ahead makes nobody wrong', async () => {
    const ahead = () => new RecordedLog().grant(1).organization(160, defined);
    expect(await ahead().begin(105, asDefined).replayed()).toEqual(YES);
    expect(await ahead().begin(105, { definition: 'x'.repeat(43) }).replayed()).toEqual(no('the capability was not defined as it says'));
  });

  it('one that ran behind, neither', async () => {
    expect(await new RecordedLog().grant(1).begin(105).organization(45, defined).replayed()).toEqual(YES);
  });

  it('a change that came later is none that was there', async () => {
    const recorded = new RecordedLog().grant(1).begin(105, asDefined).organization(160, defined);
    expect(await recorded.replayed()).toEqual(no('the capability was not defined as it says'));
  });
});

describe('sweeps', () => {
  it('count where the key that signs now has signed what they say', () => {
    const recorded = new RecordedLog().cut(2).log.entries.filter(({ chain }) => chain === organizationChain('org_a').chain);
    const known = (isOrdered: boolean) => {
      const shared = new SharedFacts(() => isOrdered);
      for (const entry of recorded) shared.add(entry);
      return shared.hasSwept('org_a');
    };
    expect([known(true), known(false)]).toEqual([true, false]);
  });
});
