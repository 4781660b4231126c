import { describe, expect, it } from '@jest/globals';
import { BEGIN, RecordedLog } from '../../../../test/support/memory/recorded-log.js';
import { newId } from '../../ids.js';
import type { AuditEvent } from '../catalogue/audit-events.js';

const time = (second: number) => new Date(BEGIN + second * 1_000).toISOString();

describe("a request's window", () => {
  const byTime = { timeoutAction: 'approve', hitlMode: 'propose', timeoutSeconds: 600 };
  const hitlId = newId('hitl');

  /** Asked in second 100. */
  function asked(expiresAt: number, terms: object = byTime, recorded = new RecordedLog()): RecordedLog {
    return recorded.grant(1, terms).agent(100, {
      type: 'hitl.created', capability: 'web.search',
      metadata: {
        hitlId, capability: 'web.search', input: {}, hitlMode: 'propose', digest: 'd', executionId: newId('exec'), grantId: 'grt_1',
        grantVersion: 1, level: 0, expiresAt: time(expiresAt),
      },
    } as AuditEvent);
  }
  const escalated = (recorded: RecordedLog, second: number, expiresAt: number) => recorded.agent(second, {
    type: 'hitl.escalated', capability: 'web.search', metadata: { hitlId, reason: 'not alone', level: 1, expiresAt: time(expiresAt) },
  } as AuditEvent);
  const ranOut = (recorded: RecordedLog, second: number, expiresAt: number) => recorded
    .agent(second, { type: 'hitl.timed_out', capability: 'web.search', metadata: { hitlId, action: 'escalate' } } as AuditEvent, 'system')
    .agent(second, {
      type: 'hitl.escalated', capability: 'web.search',
      metadata: { hitlId, reason: 'late', level: 1, expiresAt: time(expiresAt), basis: undefined },
    } as AuditEvent, 'system');
  const timedOut = (recorded: RecordedLog, second: number) => recorded
    .agent(second, { type: 'hitl.timed_out', capability: 'web.search', metadata: { hitlId, action: 'approve' } } as AuditEvent, 'system')
    .agent(second, { type: 'hitl.approved', capability: 'web.search', metadata: { hitlId, digest: 'd' } } as AuditEvent, 'system');
  const approved = (recorded: RecordedLog, second: number) => recorded.agent(second, {
    type: 'hitl.approved', capability: 'web.search', metadata: { hitlId, digest: 'd' },
  } as AuditEvent);
  const stopped = (recorded: RecordedLog, second: number, scope: 'organization' | 'agent' = 'organization') => recorded
    [scope](second, { type: 'admin.stop_started', metadata: { stopId: 'stp_1', scope, reason: 'r' } } as AuditEvent)
    [scope](second + 1, { type: 'admin.stop_ended', metadata: { stopId: 'stp_1', scope } } as AuditEvent);

  it.each([
    ['as long as its grant gives', asked(700), []],
    ['a second shorter', asked(699), ['its window is not the 600 s that its grant gives']],
    ['much shorter', asked(101), ['its window is not the 600 s that its grant gives']],
    ['much longer', asked(86_500), ['its window is not the 600 s that its grant gives']],
    ['anew after an escalation', escalated(asked(700), 300, 900), []],
    ['shorter after an escalation', escalated(asked(700), 300, 700), ['its window is not the 600 s that it was asked with']],
    ['anew when the first has run out', ranOut(asked(700), 701, 1_301), []],
    ['shorter when the first has run out', ranOut(asked(700), 701, 800), ['its window is not the 600 s that it was asked with']],
  ])('%s', async (_, recorded, wrong) => {
    expect((await recorded.replayed()).wrong).toEqual(wrong);
  });

  it.each([
    ['when it is over', timedOut(asked(700), 701), []],
    ['before', timedOut(asked(700), 600), ['its time was not over']],
    ['before, a stop in between, which makes it longer', timedOut(stopped(asked(700), 200), 600), ['its time was not over']],
    ["before, a stop of the agent's own in between", timedOut(stopped(asked(700), 200, 'agent'), 600), ['its time was not over']],
    ['long after, for a stop', timedOut(stopped(asked(700), 200), 5_000), []],
    ['after an escalation, when that is over', timedOut(escalated(asked(700), 300, 900), 901), []],
    ['after an escalation, before', timedOut(escalated(asked(700), 300, 900), 702), ['its time was not over']],
  ])('time approves %s', async (_, recorded, wrong) => {
    expect((await recorded.replayed()).wrong).toEqual(wrong);
  });

  it.each([
    ['in time', approved(asked(700), 600), []],
    ['too late', approved(asked(700), 800), ['its time was over']],
    ['too late by the first window, in time by the second', approved(escalated(asked(700), 300, 900), 800), []],
    ['too late by the second', approved(escalated(asked(700), 300, 900), 1_000), ['its time was over']],
    ['late, for a stop', approved(stopped(asked(700), 200), 800), []],
    ["late, for a stop of the agent's own", approved(stopped(asked(700), 200, 'agent'), 800), []],
    ['late, a stop before it was asked', approved(asked(700, byTime, stopped(new RecordedLog(), 50)), 800), ['its time was over']],
  ])('a person approves %s', async (_, recorded, wrong) => {
    expect((await recorded.replayed()).wrong).toEqual(wrong);
  });
});

describe('a request goes by the grant that it names, in the version that it names', () => {
  const hitlId = newId('hitl');
  const ofTeam = (recorded: RecordedLog, second: number, version: number, more: object = {}) => recorded.organization(second, {
    type: 'capability.granted', capability: 'web.search',
    metadata: {
      grantId: 'grt_t', version, teamId: 'team_1', capability: 'web.search', hitlMode: 'propose', timeoutSeconds: 600,
      timeoutAction: 'reject', ...more,
    },
  } as AuditEvent);
  const inTeam = () => new RecordedLog().agent(2, { type: 'agent.updated', metadata: { teamId: 'team_1' } } as AuditEvent);
  const asked = (recorded: RecordedLog) => recorded.agent(101, {
    type: 'hitl.created', capability: 'web.search',
    metadata: {
      hitlId, capability: 'web.search', input: {}, hitlMode: 'propose', digest: 'd', executionId: newId('exec'), grantId: 'grt_t',
      grantVersion: 1, level: 0, expiresAt: time(701),
    },
  } as AuditEvent);
  const approved = (recorded: RecordedLog, second: number, actorId = 'root') => recorded
    .agent(second, { type: 'hitl.approved', capability: 'web.search', metadata: { hitlId, digest: 'd' } } as AuditEvent, actorId);
  const ended = { type: 'hitl.timed_out', capability: 'web.search', metadata: { hitlId, action: 'approve' } } as AuditEvent;
  const timedOut = (recorded: RecordedLog) => approved(recorded.agent(702, ended, 'system'), 702, 'system');
  const two = { quorum: { approvals: 2 } };

  it.each([
    ['a quorum that came some seconds later, and went', {}, two, (recorded: RecordedLog) => approved(recorded, 300)],
    ['a time that approved no more some seconds later', { timeoutAction: 'approve' }, {}, timedOut],
  ])('%s, is none of it', async (_, before, meanwhile, decided) => {
    const recorded = ofTeam(ofTeam(asked(ofTeam(inTeam(), 50, 1, before)), 103, 2, meanwhile), 200, 3, before);
    expect(await decided(recorded).replayed()).toMatchObject({ right: 2, wrong: [] });
  });

  it('a quorum that went some seconds later is the one that was asked with', async () => {
    const recorded = approved(ofTeam(asked(ofTeam(inTeam(), 50, 1, two)), 103, 2), 300);
    expect((await recorded.replayed()).wrong).toEqual(['2 people have to approve, and the log knows of 1']);
  });
});

describe('whoever approves', () => {
  const hitlId = newId('hitl');
  const executionId = newId('exec');
  const person = newId('usr');
  const recorded = () => new RecordedLog()
    .organization(1, { type: 'admin.user_created', metadata: { userId: person, role: 'member' } } as AuditEvent)
    .agent(2, { type: 'agent.updated', metadata: { ownerId: person } } as AuditEvent)
    .grant(3, { hitlMode: 'propose', timeoutSeconds: 600 })
    .agent(100, {
      type: 'hitl.created', capability: 'web.search',
      metadata: {
        hitlId, capability: 'web.search', input: {}, hitlMode: 'propose', digest: 'd', executionId, grantId: 'grt_1', grantVersion: 1,
        level: 0, expiresAt: time(700),
      },
    } as AuditEvent)
    .grant(120, { version: 2, hitlMode: 'escalate', timeoutSeconds: 600 });
  const promoted = { type: 'admin.user_updated', metadata: { userId: person, role: 'admin' } } as AuditEvent;
  const approves = (log: RecordedLog) => {
    log.agent(155, { type: 'hitl.approved', capability: 'web.search', metadata: { hitlId, digest: 'd' } } as AuditEvent, person);
    return log.log.entries.at(-1)!.id;
  };
  const begun = (log: RecordedLog, decisionId: string) => log.begin(200, { executionId, hitlId, decisionId, grantVersion: 2 }, person);

  it('and was promoted before decides as an admin', async () => {
    const log = recorded().organization(154, promoted);
    expect(await begun(log, approves(log)).replayed()).toMatchObject({ wrong: [] });
  });

  it('and was promoted only afterwards does not', async () => {
    const log = recorded();
    const decisionId = approves(log);
    expect((await begun(log.organization(156, promoted), decisionId).replayed()).wrong)
      .toEqual(['the gate asks a person first (escalate)']);
  });

  it.each<[string, object, string]>([
    ['nobody', { decider: undefined }, 'it does not tell who decided'],
    ['root', { decider: { role: 'root', level: 2 } }, `${person} is not root`],
    ['an admin', { decider: { role: 'admin', level: 2, home: { organization: 'org_a', position: 2 } } }, `${person} was member, not admin`],
    ['of a higher level', { decider: { role: 'member', level: 1, home: { organization: 'org_a', position: 2 } } },
      `${person} decides at level 0, not at 1`],
    ['less, as a provider may have it', { decider: { role: 'viewer', level: 0, home: { organization: 'org_a', position: 2 } } },
      `${person} may not decide at level 0`],
  ])('says who that is: %s', async (_, more, wrong) => {
    const approval = { type: 'hitl.approved', capability: 'web.search', metadata: { hitlId, digest: 'd', ...more } } as AuditEvent;
    const log = recorded().agent(155, approval, person);
    expect((await log.replayed()).wrong).toEqual([wrong]);
  });

  it.each<[string, AuditEvent, string]>([
    ['rejects', { type: 'hitl.rejected', capability: 'web.search', metadata: { hitlId } }, 'usr_x may not decide at level 0'],
    ['edits', { type: 'hitl.edited', capability: 'web.search', metadata: { hitlId, version: 2, digest: 'e', input: {}, diff: [] } },
      'usr_x may not decide at level 0'],
    ['escalates', { type: 'hitl.escalated', capability: 'web.search', metadata: { hitlId, reason: 'r', level: 1, expiresAt: time(755) } },
      'usr_x may not decide at level 0'],
    ['votes', { type: 'hitl.voted', capability: 'web.search', metadata: { hitlId, approvals: 1, needed: 2 } },
      'usr_x may not decide at level 0'],
  ])('has to have the right, and so whoever %s', async (_, event, wrong) => {
    const viewer = { type: 'admin.user_created', metadata: { userId: 'usr_x', role: 'viewer' } } as AuditEvent;
    expect((await recorded().organization(150, viewer).agent(155, event, 'usr_x').replayed()).wrong).toEqual([wrong]);
    expect((await recorded().agent(155, event, person).replayed()).wrong).toEqual([]);
  });

  it('does so under no stop', async () => {
    const stop: AuditEvent = { type: 'admin.stop_started', metadata: { stopId: 's', scope: 'organization', reason: 'r' } };
    const log = recorded().organization(150, stop);
    approves(log);
    expect((await log.replayed()).wrong).toEqual(['a stop held the agent']);
  });
});
