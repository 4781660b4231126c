import { describe, expect, it } from '@jest/globals';
import { BEGIN, RecordedLog } from '../../../../../test/support/memory/recorded-log.js';
import { newId } from '../../../ids.js';
import type { AuditEvent } from '../../catalogue/audit-events.js';

const when = (source: string) => ({ conditions: [{ when: source, hitlMode: 'propose' }] });
const time = (second: number) => new Date(BEGIN + second * 1_000).toISOString();

describe('conditions over the time of the call, which is some moments before its entry is stamped', () => {
  const minute = new Date(BEGIN).getUTCMinutes();
  it.each([
    ['hangs on the second: it may have held or not', 'now.getSeconds() % 2 == 0', 'right'],
    ['hangs on the millisecond', 'now.getMilliseconds() == 7', 'right'],
    ['holds all through that minute', `now.getMinutes() == ${minute}`, 'wrong'],
    ['never held', `now.getMinutes() == ${(minute + 30) % 60}`, 'right'],
    ['held from long ago on', `now > timestamp("${time(-3_600)}")`, 'wrong'],
    ['held until just before', `now < timestamp("${time(29)}")`, 'right'],
    ['holds for a second around it', `now >= timestamp("${time(29.95)}") && now < timestamp("${time(30.5)}")`, 'right'],
    ['held before and after, but not a moment before', `now < timestamp("${time(29.5)}") || now >= timestamp("${time(29.95)}")`, 'right'],
  ])('%s', async (_, source, found) => {
    const { right, wrong } = await new RecordedLog().grant(1, when(source)).begin(30).replayed();
    expect([right, wrong]).toEqual(found === 'right' ? [1, []] : [0, ['the gate asks a person first (propose)']]);
  });

  it('what hangs on the second may have asked, too', async () => {
    const asks = (source: string) => ({ conditions: [{ when: source, hitlMode: 'escalate' }] });
    const told = (source: string) => new RecordedLog().grant(1, asks(source)).approved(30, [], { hitlMode: 'escalate' });
    expect(await told('now.getSeconds() == 7').replayed()).toMatchObject({ right: 1, wrong: [] });
    expect(await told('now.getHours() == 7').replayed()).toMatchObject({ right: 0, wrong: ['the gate lets it run (auto)'] });
  });

  it.each([
    ['a window some time before it', `now >= timestamp("${time(28.3)}") && now < timestamp("${time(28.75)}")`, 30],
    ['one of a millisecond', `now >= timestamp("${time(28.3)}") && now < timestamp("${time(28.301)}")`, 30],
    ['one after it: a clock may have been behind', `now > timestamp("${time(34)}") && now <= timestamp("${time(35)}")`, 30],
    ['one that the input tells', 'now - timestamp(input.a) >= duration("1.5s") && timestamp(input.a) + duration("1.7s") > now', 30],
    ['the minute before', `now.getMinutes() == ${minute} && now > timestamp("${time(58)}")`, 65],
  ])('may have been asked in %s', async (_, source, second) => {
    const told = (at: number) => new RecordedLog().grant(1, { conditions: [{ when: source, hitlMode: 'escalate' }] })
      .approved(at, [], { hitlMode: 'escalate', input: { a: time(at - 4) } });
    expect(await told(second).replayed()).toMatchObject({ right: 1, wrong: [] });
  });

  it('cannot have been asked in one that is far away', async () => {
    const source = `now >= timestamp("${time(10)}") && now < timestamp("${time(19)}")`;
    const conditions = [{ when: source, hitlMode: 'escalate' }];
    const told = new RecordedLog().grant(1, { conditions }).approved(30, [], { hitlMode: 'escalate' });
    expect(await told.replayed()).toMatchObject({ right: 0, wrong: ['the gate lets it run (auto)'] });
  });

  it('a mode that no condition asks for is wrong all the same', async () => {
    const told = new RecordedLog().grant(1, { hitlMode: 'block', ...when('now.getSeconds() == 1') }).begin(2);
    expect(await told.replayed()).toMatchObject({ right: 0, wrong: ['the gate blocks it'] });
  });
});

describe("a request's window", () => {
  const byTime = { timeoutAction: 'approve', hitlMode: 'propose', timeoutSeconds: 600 };
  const hitlId = newId('hitl');

  /** Asked in second 100. */
  function asked(expiresAt: number, terms: object = byTime, told = new RecordedLog()): RecordedLog {
    return told.grant(1, terms).agent(100, {
      type: 'hitl.created', capability: 'web.search',
      metadata: {
        hitlId, capability: 'web.search', input: {}, hitlMode: 'propose', digest: 'd', executionId: newId('exec'), grantId: 'grt_1',
        grantVersion: 1, level: 0, expiresAt: time(expiresAt),
      },
    } as AuditEvent);
  }
  const escalated = (told: RecordedLog, second: number, expiresAt: number) => told.agent(second, {
    type: 'hitl.escalated', capability: 'web.search', metadata: { hitlId, reason: 'not alone', level: 2, expiresAt: time(expiresAt) },
  } as AuditEvent);
  const timedOut = (told: RecordedLog, second: number) => told
    .agent(second, { type: 'hitl.timed_out', capability: 'web.search', metadata: { hitlId, action: 'approve' } } as AuditEvent, 'system')
    .agent(second, { type: 'hitl.approved', capability: 'web.search', metadata: { hitlId, digest: 'd' } } as AuditEvent, 'system');
  const approved = (told: RecordedLog, second: number) => told.agent(second, {
    type: 'hitl.approved', capability: 'web.search', metadata: { hitlId, digest: 'd' },
  } as AuditEvent);
  const stopped = (told: RecordedLog, second: number, scope: 'organization' | 'agent' = 'organization') => told
    [scope](second, { type: 'admin.stop_started', metadata: { stopId: 'stp_1', scope, reason: 'r' } } as AuditEvent)
    [scope](second + 1, { type: 'admin.stop_ended', metadata: { stopId: 'stp_1', scope } } as AuditEvent);

  it.each([
    ['as long as its grant gives', asked(700), []],
    ['asked some seconds before its stamp', asked(692), []],
    ['much shorter', asked(101), ['its window is not the 600 s that its grant gives']],
    ['much longer', asked(86_500), ['its window is not the 600 s that its grant gives']],
    ['anew after an escalation', escalated(asked(700), 300, 900), []],
    ['shorter after an escalation', escalated(asked(700), 300, 700), ['its window is not the 600 s that it was asked with']],
  ])('%s', async (_, told, wrong) => {
    expect((await told.replayed()).wrong).toEqual(wrong);
  });

  it.each([
    ['when it is over', timedOut(asked(700), 701), []],
    ['before', timedOut(asked(700), 600), ['its time was not over']],
    ['before, a stop in between, which makes it longer', timedOut(stopped(asked(700), 200), 600), ['its time was not over']],
    ["before, a stop of the agent's own in between", timedOut(stopped(asked(700), 200, 'agent'), 600), ['its time was not over']],
    ['long after, for a stop', timedOut(stopped(asked(700), 200), 5_000), []],
    ['after an escalation, when that is over', timedOut(escalated(asked(700), 300, 900), 901), []],
    ['after an escalation, before', timedOut(escalated(asked(700), 300, 900), 702), ['its time was not over']],
  ])('time approves %s', async (_, told, wrong) => {
    expect((await told.replayed()).wrong).toEqual(wrong);
  });

  it.each([
    ['in time', approved(asked(700), 600), []],
    ['too late', approved(asked(700), 800), ['its time was over']],
    ['too late by the first window, in time by the second', approved(escalated(asked(700), 300, 900), 800), []],
    ['too late by the second', approved(escalated(asked(700), 300, 900), 1_000), ['its time was over']],
    ['late, for a stop', approved(stopped(asked(700), 200), 800), []],
    ["late, for a stop of the agent's own", approved(stopped(asked(700), 200, 'agent'), 800), []],
    ['late, a stop before it was asked', approved(asked(700, byTime, stopped(new RecordedLog(), 50)), 800), ['its time was over']],
  ])('a person approves %s', async (_, told, wrong) => {
    expect((await told.replayed()).wrong).toEqual(wrong);
  });
});

describe('a request goes by the grant that it names, in the version that it names', () => {
  const hitlId = newId('hitl');
  const ofTeam = (told: RecordedLog, second: number, version: number, more: object = {}) => told.organization(second, {
    type: 'capability.granted', capability: 'web.search',
    metadata: {
      grantId: 'grt_t', version, teamId: 'team_1', capability: 'web.search', hitlMode: 'propose', timeoutSeconds: 600,
      timeoutAction: 'reject', ...more,
    },
  } as AuditEvent);
  const inTeam = () => new RecordedLog().agent(2, { type: 'agent.updated', metadata: { teamId: 'team_1' } } as AuditEvent);
  const asked = (told: RecordedLog) => told.agent(101, {
    type: 'hitl.created', capability: 'web.search',
    metadata: {
      hitlId, capability: 'web.search', input: {}, hitlMode: 'propose', digest: 'd', executionId: newId('exec'), grantId: 'grt_t',
      grantVersion: 1, level: 0, expiresAt: time(701),
    },
  } as AuditEvent);
  const approved = (told: RecordedLog, second: number, actorId = 'root') => told
    .agent(second, { type: 'hitl.approved', capability: 'web.search', metadata: { hitlId, digest: 'd' } } as AuditEvent, actorId);
  const ended = { type: 'hitl.timed_out', capability: 'web.search', metadata: { hitlId, action: 'approve' } } as AuditEvent;
  const timedOut = (told: RecordedLog) => approved(told.agent(702, ended, 'system'), 702, 'system');
  const two = { quorum: { approvals: 2 } };

  it.each([
    ['a quorum that came some seconds later, and went', {}, two, (told: RecordedLog) => approved(told, 300)],
    ['a time that approved no more some seconds later', { timeoutAction: 'approve' }, {}, timedOut],
  ])('%s, is none of it', async (_, before, meanwhile, decided) => {
    const told = ofTeam(ofTeam(asked(ofTeam(inTeam(), 50, 1, before)), 103, 2, meanwhile), 200, 3, before);
    expect(await decided(told).replayed()).toMatchObject({ right: 2, wrong: [] });
  });

  it('a quorum that went some seconds later is the one that was asked with', async () => {
    const told = approved(ofTeam(asked(ofTeam(inTeam(), 50, 1, two)), 103, 2), 300);
    expect((await told.replayed()).wrong).toEqual(['2 people have to approve, and the log knows of 1']);
  });
});

describe('a clock that ran ahead for a while', () => {
  const hitlId = newId('hitl');
  const executionId = newId('exec');
  const asked = (told: RecordedLog, second: number) => told.agent(second, {
    type: 'hitl.created', capability: 'web.search',
    metadata: {
      hitlId, capability: 'web.search', input: {}, hitlMode: 'propose', digest: 'd', executionId, grantId: 'grt_1', grantVersion: 1,
      level: 0, expiresAt: time(700),
    },
  } as AuditEvent);
  const approved = (told: RecordedLog, second: number, actorId = 'root') => told
    .agent(second, { type: 'hitl.approved', capability: 'web.search', metadata: { hitlId, digest: 'd' } } as AuditEvent, actorId);
  const granted = (terms: object = {}) => new RecordedLog().grant(1, { hitlMode: 'propose', timeoutSeconds: 600, ...terms });

  it.each([0, 5, 60])('%i s: the window of an escalation is as long as the grant gives', async (ahead) => {
    const told = asked(granted(), 100 + ahead)
      .agent(102, { type: 'agent.updated', metadata: { description: 'x' } } as AuditEvent)
      .agent(300, {
        type: 'hitl.escalated', capability: 'web.search', metadata: { hitlId, reason: 'r', level: 2, expiresAt: time(900) },
      } as AuditEvent);
    expect((await approved(told, 400).replayed()).wrong).toEqual([]);
  });

  it.each([0, 60])('%i s: a stop that began behind the question counts', async (ahead) => {
    const told = asked(granted(), 100 + ahead)
      .agent(102, { type: 'admin.stop_started', metadata: { stopId: 'stp_1', scope: 'agent', reason: 'r' } } as AuditEvent)
      .agent(142, { type: 'admin.stop_ended', metadata: { stopId: 'stp_1', scope: 'agent' } } as AuditEvent);
    expect((await approved(told, 735).replayed()).wrong).toEqual([]);
  });

  it.each([0, 5, 60])('%i s: whoever was promoted then decides as an admin', async (ahead) => {
    const person = newId('usr');
    const told = asked(new RecordedLog()
      .organization(1, { type: 'admin.user_created', metadata: { userId: person, role: 'member' } } as AuditEvent)
      .agent(2, { type: 'agent.updated', metadata: { ownerId: person } } as AuditEvent)
      .grant(3, { hitlMode: 'propose', timeoutSeconds: 600 }), 100)
      .grant(120, { version: 2, hitlMode: 'escalate', timeoutSeconds: 600 })
      .organization(140 + ahead, { type: 'admin.user_updated', metadata: { userId: person, role: 'admin' } } as AuditEvent)
      .organization(145, { type: 'admin.team_changed', metadata: { teamId: 'team_9', change: 'created', name: 't' } } as AuditEvent);
    approved(told, 155, person);
    const decisionId = told.log.entries.at(-1)!.id;
    told.begin(156, { executionId, hitlId, decisionId, grantVersion: 2 }, person);
    expect(await told.replayed()).toMatchObject({ wrong: [] });
  });

  it('whoever was promoted only afterwards does not', async () => {
    const person = newId('usr');
    const told = asked(new RecordedLog()
      .organization(1, { type: 'admin.user_created', metadata: { userId: person, role: 'member' } } as AuditEvent)
      .agent(2, { type: 'agent.updated', metadata: { ownerId: person } } as AuditEvent)
      .grant(3, { hitlMode: 'propose', timeoutSeconds: 600 }), 100)
      .grant(120, { version: 2, hitlMode: 'escalate', timeoutSeconds: 600 });
    approved(told, 155, person);
    const decisionId = told.log.entries.at(-1)!.id;
    told.organization(190, { type: 'admin.user_updated', metadata: { userId: person, role: 'admin' } } as AuditEvent)
      .begin(200, { executionId, hitlId, decisionId, grantVersion: 2 }, person);
    expect((await told.replayed()).wrong).toEqual(['the gate asks a person first (escalate)']);
  });
});
