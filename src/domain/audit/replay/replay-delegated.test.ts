import { describe, expect, it } from '@jest/globals';
import { grantedTo, RecordedLog } from '../../../../test/support/memory/recorded-log.js';
import { newId } from '../../ids.js';
import type { AuditEvent } from '../catalogue/audit-events.js';

/** Along the delegation, before the agent that acts. */
const CHAIN = [newId('agt'), newId('agt'), newId('agt'), newId('agt')];
const [FIRST] = CHAIN as [string];
const YES = { right: 1, notReplayable: {}, wrong: [] };
const only = (because: string) => ({ right: 0, notReplayable: { [because]: 1 }, wrong: [] });

const log = (more: object = {}) => new RecordedLog().grant(1).givers(CHAIN, 1, more);
const stop: AuditEvent = { type: 'admin.stop_started', metadata: { stopId: 'stp_1', scope: 'agent', reason: 'r' } };
const lifted: AuditEvent = { type: 'admin.stop_ended', metadata: { stopId: 'stp_1', scope: 'agent' } };
const away = (direction: string): AuditEvent => ({ type: 'agent.transferred', metadata: { direction } }) as AuditEvent;

describe('a call for a task', () => {
  it('is right where every agent of the chain may do it', async () => {
    expect(await log().begin(2, log().behind(...CHAIN)).replayed()).toEqual(YES);
  });

  const changes: readonly (readonly [string, AuditEvent | ((id: string) => AuditEvent), string])[] = [
    ['a grant that blocks', (id) => grantedTo(id, { hitlMode: 'block' }), 'the gate blocks it'],
    ['a grant that asks', (id) => grantedTo(id, { hitlMode: 'propose' }), 'the gate asks a person first (propose)'],
    ['a condition', (id) => grantedTo(id, { conditions: [{ when: 'true', hitlMode: 'escalate' }] }),
      'the gate asks a person first (escalate)'],
    ['a stop', stop, 'the gate refuses it: A stop holds this agent: in force.'],
    ['no grant any more', (id) => ({
      type: 'capability.revoked', capability: 'web.search', metadata: { grantId: `grt_${id}`, capability: 'web.search' } }) as AuditEvent,
    'was not the one that held'],
    ['a deactivation', { type: 'agent.deactivated', metadata: {} }, 'is deactivated'],
    ['a high risk', { type: 'agent.updated', metadata: { riskLevel: 'high' } }, 'the gate lets it run (auto)'],
  ];
  const places = CHAIN.map((id, i) => [i + 1, id] as const);

  it.each(places.flatMap(([place, id]) => changes.map(([name, change, wrong]) => [place, name, id, change, wrong] as const)))(
    'agent %i of the chain, and before it %s', async (_, __, id, change, wrong) => {
      const recorded = log().giver(id, 2, typeof change === 'function' ? change(id) : change);
      const { right, wrong: found } = await recorded.begin(3, recorded.behind(...CHAIN)).replayed();
      expect([right, found]).toEqual([0, [expect.stringContaining(wrong)]]);
    });

  it.each(places.flatMap(([place, id]) => ([
    ['another version', { grantVersion: 2 }, 'the grant stood at version 1, not at 2'],
    ['another grant', { grantId: 'grt_x' }, 'grant grt_x was not the one that held'],
    ['no grant', { grantId: undefined, grantVersion: undefined }, undefined],
  ] as const).map(([name, said, wrong]) => [place, name, id, said, wrong] as const)))(
    'agent %i of the chain, of which the entry names %s', async (_, __, id, said, wrong) => {
      const recorded = log();
      const { taskId, delegators } = recorded.behind(...CHAIN);
      const named = delegators.map((one) => (one.agentId === id ? JSON.parse(JSON.stringify({ ...one, ...said })) as typeof one : one));
      expect((await recorded.begin(2, { taskId, delegators: named }).replayed()).wrong)
        .toEqual(wrong === undefined ? [] : [expect.stringContaining(wrong)]);
    });

  it.each([
    ['before it was changed', -1, 'what it rests on had changed before it was written'],
    ['before it was there', -2, 'what it rests on had changed before it was written'],
    ['as if it had left', -3, 'was not the one that held'],
  ])('cannot rest on an agent as it was %s', async (_, offset, wrong) => {
    const recorded = log().giver(FIRST, 2, grantedTo(FIRST, { version: 2 }));
    const { taskId, delegators } = recorded.behind(FIRST);
    const named = [{ ...delegators[0]!, grantVersion: 2, position: delegators[0]!.position + offset }];
    expect((await recorded.begin(3, { taskId, delegators: named }).replayed()).wrong).toEqual([expect.stringContaining(wrong)]);
  });

  it('cannot rest on what was changed only afterwards, nor on an agent that never was', async () => {
    const recorded = log().giver(FIRST, 2, grantedTo(FIRST, { hitlMode: 'block' }));
    const behind = recorded.behind(FIRST);
    recorded.begin(3, { ...behind, delegators: [{ ...behind.delegators[0]!, position: 4 }] });
    recorded.giver(FIRST, 4, grantedTo(FIRST, { version: 2 }));
    expect((await recorded.replayed()).wrong).toEqual([expect.stringContaining('it rests on what changed only after it was written')]);
    const nobody = log();
    expect((await nobody.begin(2, nobody.behind(newId('agt'))).replayed()).wrong)
      .toEqual([expect.stringContaining('nothing is known of it')]);
  });

  it('is blocked for the reason that another agent gives', async () => {
    const blocked = (reason: string) => {
      const recorded = log().giver(FIRST, 2, stop);
      return recorded.agent(3, {
        type: 'execution.blocked', capability: 'web.search', metadata: { reason, input: {}, ...recorded.behind(FIRST) },
      } as AuditEvent).giver(FIRST, 4, lifted).replayed();
    };
    expect(await blocked('STOPPED')).toEqual(YES);
    expect((await blocked('AGENT_INACTIVE')).wrong).toHaveLength(1);
  });

  it('is not told where a limit of another agent counts', async () => {
    const recorded = log({ limits: [{ max: 1, per: 'day', then: 'propose' }] });
    expect(await recorded.begin(2, recorded.behind(FIRST)).replayed()).toEqual(only('limits'));
    const strict = log({ hitlMode: 'block', limits: [{ max: 1, per: 'day', then: 'propose' }] });
    expect((await strict.begin(2, strict.behind(FIRST)).replayed()).wrong).toEqual(['the gate blocks it']);
  });

  it('is approved by as many as the strictest grant asks for, and never by time', async () => {
    const user = (userId: string): AuditEvent => ({ type: 'admin.user_created', metadata: { userId, role: 'admin' } });
    const people = () => log({ quorum: { approvals: 2 }, hitlMode: 'propose' })
      .organization(1, user('usr_a')).organization(1, user('usr_b'));
    const asked = (by: readonly string[]) => {
      const recorded = people();
      const behind = recorded.behind(FIRST);
      return recorded.approved(2, by, behind, 3, { delegators: behind.delegators }).replayed();
    };
    expect((await asked(['usr_a'])).wrong).toEqual([expect.stringContaining('2 people have to approve')]);
    const recorded = new RecordedLog().grant(1, { hitlMode: 'propose', timeoutAction: 'approve' }).givers([FIRST], 1);
    const behind = recorded.behind(FIRST);
    const byTime = recorded.approved(2, ['system'], behind, 63, { delegators: behind.delegators });
    expect((await byTime.replayed()).wrong).toHaveLength(1);
  });
});

describe('an agent of the chain of which a sweep has taken', () => {
  it('all: what it let run may have been right', async () => {
    const recorded = log();
    const behind = recorded.behind(FIRST);
    expect(await recorded.cut(2, FIRST).begin(920, behind).replayed()).toEqual(only('swept'));
  });

  it.each([
    ['it had none, and the acting agent has', new RecordedLog().grant(1), {}],
    ['the acting agent has none', new RecordedLog(), {}],
    ['its own had run out', new RecordedLog().grant(1), { expiresAt: new Date(5_000).toISOString() }],
  ])('all: what was blocked for want of a grant, where %s', async (_, recorded, terms) => {
    recorded.givers([FIRST], 1, terms);
    const blocked = recorded.cut(2, FIRST).agent(920, {
      type: 'execution.blocked', capability: 'web.search',
      metadata: { reason: 'CAPABILITY_NOT_GRANTED', input: {}, ...recorded.behind(FIRST) },
    } as AuditEvent);
    expect(await blocked.replayed()).toEqual(only('swept'));
  });

  it('all but what says nothing of its rights', async () => {
    const ended = { type: 'task.ended', metadata: { taskId: 't', status: 'cancelled', reason: 'asked' } } as AuditEvent;
    const recorded = log().giver(FIRST, 5, ended);
    const behind = recorded.behind(FIRST);
    expect(await recorded.cut(2, FIRST).begin(920, behind).replayed()).toEqual(only('swept'));
  });

  it.each([
    ['left', ['out'], 2], ['left and came back', ['out', 'in'], 2], ['came back', ['out', 'in'], 3],
  ] as const)('all before it %s', async (_, ways, count) => {
    const recorded = log();
    const behind = recorded.behind(FIRST);
    recorded.begin(4, behind);
    for (const way of ways) recorded.giver(FIRST, 5, away(way));
    expect(await recorded.cut(count, FIRST).replayed()).toEqual(only('swept'));
  });

  it('its registration: what is left of its grants counts', async () => {
    const recorded = log().cut(2, FIRST).giver(FIRST, 910, grantedTo(FIRST, { hitlMode: 'block' }));
    expect((await recorded.begin(920, recorded.behind(FIRST)).replayed()).wrong).toEqual(['the gate blocks it']);
  });

  it('nothing: before it came here it had no rights here', async () => {
    const recorded = log();
    const { taskId, delegators } = recorded.behind(FIRST);
    const late = newId('agt');
    recorded.begin(4, { taskId, delegators: [{ ...delegators[0]!, agentId: late }] });
    recorded.giver(late, 4, away('out')).giver(late, 5, away('in'));
    recorded.log.entries = recorded.log.entries.filter(({ chain, seq }) => chain !== late || seq > 1);
    expect((await recorded.replayed()).wrong).toHaveLength(1);
  });
});
