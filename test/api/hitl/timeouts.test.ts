import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { auditOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent, type GrantTerms } from '../../support/builders/agents.js';
import { callLimit, tally, wrongTotals } from '../../support/builders/counting-scenario.js';
import { eventually } from '../../support/running/eventually.js';
import { defineCapability, executionBecomes, executionOf, requestOf } from '../../support/builders/gate.js';
import { anOrganization, aPerson } from '../../support/builders/people.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { makeDue, sweptTo, withoutSweeper } from '../../support/hitl/due-requests.js';

let server: TestServer;
let root: Client;
let receiver: Receiver;

beforeAll(async () => {
  [server, receiver] = await Promise.all([startServer(), startReceiver()]);
  root = asRoot(server);
  await defineCapability(server, 'crm.push', { connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}' } });
});
afterAll(async () => {
  await server.stop();
  await receiver.close();
});

interface Asked {
  readonly agent: BuiltAgent;
  readonly id: string;
  readonly execution: string;
}

async function ask(agent: BuiltAgent, capability = 'email.send'): Promise<Asked> {
  const reply = (await agent.client.post('/api/v1/execute', { capability, input: { amount: 5 } })).expect(202);
  return { agent, id: reply.text('hitlRequestId'), execution: reply.text('executionId') };
}

async function asked(terms: GrantTerms = {}, capability = 'email.send'): Promise<Asked> {
  return ask(await anAgent(server).granted(capability, { hitlMode: 'propose', ...terms }).create(), capability);
}

/** What is recorded of a request after its creation: events, actors, and what they say. */
async function recordedOf({ agent, id }: Asked): Promise<[string, string, object][]> {
  const entries = (await auditOf(server, agent.id)).filter(({ event, metadata }) => event !== 'hitl.created' && metadata.hitlId === id);
  return entries.map(({ event, actorId, metadata }) => [event, actorId, metadata]);
}

const timedOut = (action: string, by = 'system') => ['hitl.timed_out', by, expect.objectContaining({ action })];
const REJECTED = { status: 'timed_out', decided_by: 'system', decision: { outcome: 'rejected', by: 'timeout', note: null } };
const APPROVED = { status: 'approved', decided_by: 'system', decision: { outcome: 'approved', by: 'system', note: null } };
const escalatedTo = (level: number) => ({ status: 'escalated', escalation_level: level, decided_by: null, decided_at: null });

type Case = [name: string, capability: string, terms: GrantTerms, row: Record<string, unknown>, action: string, becomes: object];

const AT = (level: number) => ({ escalation_level: level, ...(level === 0 ? {} : { status: 'escalated' }) });
const ESCALATE = { hitlMode: 'escalate' };
const QUORUM = { quorum: JSON.stringify({ approvals: 2 }) };
const by = (timeout_action: string) => ({ timeout_action });

/** What comes of each action, whether time or a hand applies it. */
const EITHER_WAY: readonly Case[] = [
  ...[0, 1, 2].map((level): Case => [`reject at level ${level}`, 'email.send', {}, { ...AT(level), ...by('reject') }, 'reject', REJECTED]),
  ['notify_only', 'email.send', {}, by('notify_only'), 'notify_only', REJECTED],
  ['notify_only of the mode escalate', 'email.send', ESCALATE, by('notify_only'), 'notify_only', REJECTED],
  ['escalate at level 0', 'email.send', {}, by('escalate'), 'escalate', escalatedTo(1)],
  ['escalate at level 1', 'email.send', {}, { ...AT(1), ...by('escalate') }, 'escalate', escalatedTo(2)],
  ['escalate at level 2', 'email.send', {}, { ...AT(2), ...by('escalate') }, 'reject', REJECTED],
  ['escalate under a quorum', 'email.send', {}, { ...QUORUM, ...by('escalate') }, 'escalate', escalatedTo(1)],
  ['approve of the mode escalate', 'email.send', ESCALATE, by('approve'), 'reject', REJECTED],
  ['approve of a hardcoded capability', 'phone.call', {}, by('approve'), 'reject', REJECTED],
  ['approve of a hardcoded capability, whatever the row says of its mode', 'phone.call', {},
    { ...by('approve'), hitl_mode: 'propose', status: 'pending', escalation_level: 0 }, 'reject', REJECTED],
  ['approve under a quorum', 'email.send', {}, { ...QUORUM, ...by('approve') }, 'reject', REJECTED],
];

async function expectEnded(request: Asked, action: string, becomes: object, actor: string): Promise<void> {
  const seen = await requestOf(server, request.id);
  expect(seen).toMatchObject(becomes);
  const recorded = await recordedOf(request);
  const escalated = ['hitl.escalated', 'system', expect.objectContaining({ level: seen['escalation_level'] })];
  expect(recorded).toEqual([timedOut(action, actor), ...(action === 'escalate' ? [escalated] : [])]);
  const execution = await executionOf(server, request.execution);
  if (action === 'escalate') {
    expect(execution).toMatchObject({ status: 'pending_hitl' });
    expect(Date.parse(String(seen['expires_at']))).toBeGreaterThan(Date.now() + 1_000_000);
  } else expect(execution).toMatchObject({ status: 'cancelled', reason: 'timed_out' });
}

describe('when the window ends', () => {
  test.each(EITHER_WAY)('%s', async (_name, capability, terms, row, action, becomes) => {
    const request = await asked(terms, capability);
    await makeDue(server, [request.id], row);
    await eventually(async () => expect(await requestOf(server, request.id)).toMatchObject(becomes), { every: 100 });
    await expectEnded(request, action, becomes, 'system');
  });

  test.each([0, 1, 2])('approve at level %s: approved by the system, and it runs', async (level) => {
    const request = await asked({ hitlTimeoutAction: 'approve' });
    await makeDue(server, [request.id], AT(level));
    expect(await sweptTo(server, request.id, 'approved')).toMatchObject(APPROVED);
    expect(await executionBecomes(server, request.execution, 'executed')).toMatchObject({ runtime: 'receipt' });
    expect(await recordedOf(request)).toEqual([
      timedOut('approve'), ['hitl.approved', 'system', expect.anything()],
      ['execution.started', 'system', expect.objectContaining({ runtime: 'receipt' })],
      ['execution.completed', 'system', expect.anything()],
    ]);
  });

  test('what a connector runs is run once', async () => {
    const before = receiver.requests.length;
    const request = await asked({ hitlTimeoutAction: 'approve' }, 'crm.push');
    await makeDue(server, [request.id]);
    await sweptTo(server, request.id, 'approved');
    expect(await executionBecomes(server, request.execution, 'executed')).toMatchObject({ output: { ok: true } });
    expect((await recordedOf(request)).map(([event]) => event))
      .toEqual(['hitl.timed_out', 'hitl.approved', 'execution.started', 'execution.completed']);
    expect(receiver.requests).toHaveLength(before + 1);
  });

  test('a request that an adapter asked for is licensed', async () => {
    const agent = await anAgent(server).granted('crm.push', { hitlMode: 'propose', hitlTimeoutAction: 'approve' }).create();
    const before = receiver.requests.length;
    const id = (await agent.client.post('/api/v1/hitl', { capability: 'crm.push', payload: {} })).expect(201).text('request.id');
    await makeDue(server, [id]);
    expect(await sweptTo(server, id, 'approved')).toMatchObject({ execution: { status: 'executed' } });
    expect(receiver.requests).toHaveLength(before);
  });
});

describe('by hand, before the window ends', () => {
  test.each([
    ...EITHER_WAY,
    ['approve: no hand approves like this', 'email.send', { hitlTimeoutAction: 'approve' }, {}, 'reject', REJECTED] satisfies Case,
  ])('%s', async (_name, capability, terms, row, action, becomes) => {
    const request = await asked(terms, capability);
    for (const [column, value] of Object.entries(row)) {
      await server.sql(`update hitl_requests set ${column} = $2 where id = $1`, [request.id, value]);
    }
    const admin = await aPerson(server, 'admin');
    const reply = (await admin.client.post(`/api/v1/hitl/${request.id}/timeout`)).expect(200);
    expect(reply.body).toMatchObject({ action, request: { id: request.id, status: (becomes as { status: string }).status } });
    await expectEnded(request, action, becomes, admin.id);
  });
});

describe('an approval by time asks the gate anew', () => {
  const OBSTACLES: [string, string, (request: Asked) => Promise<unknown>][] = [
    ['the agent is deactivated', 'agent_inactive', ({ agent }) => root.post(`/api/v1/agents/${agent.id}/deactivate`)],
    ['the grant blocks', 'blocked', ({ agent }) => root.patch(`/api/v1/agents/${agent.id}/capabilities/email.send`, { hitlMode: 'block' })],
    ['a condition blocks', 'blocked', ({ agent }) => root.patch(`/api/v1/agents/${agent.id}/capabilities/email.send`,
      { conditions: [{ when: 'input.amount > 1', hitlMode: 'block' }] })],
    ['the stored bytes are others', 'digest_mismatch', ({ id }) =>
      server.sql(`update hitl_requests set input = '{"amount":6}' where id = $1`, [id])],
  ];

  test.each(OBSTACLES)('%s: cancelled by the system', async (_name, reason, make) => {
    const request = await asked({ hitlTimeoutAction: 'approve' });
    await make(request);
    await makeDue(server, [request.id]);
    expect(await sweptTo(server, request.id, 'cancelled'))
      .toMatchObject({ decided_by: 'system', decision: { outcome: 'cancelled', by: 'system' } });
    expect(await recordedOf(request)).toEqual([['hitl.cancelled', 'system', expect.objectContaining({ reason })]]);
    expect(await executionOf(server, request.execution)).toMatchObject({ status: 'cancelled' });
  });

  const nowEscalates = ({ agent }: Asked) => root.patch(`/api/v1/agents/${agent.id}/capabilities/email.send`,
    { conditions: [{ when: 'input.amount > 1', hitlMode: 'escalate' }] });

  test('what needs an admin by now goes to one, with a new window', async () => {
    const request = await asked({ hitlTimeoutAction: 'approve' });
    (await nowEscalates(request)).expect(200);
    await makeDue(server, [request.id]);
    const seen = await sweptTo(server, request.id, 'escalated');
    expect(seen).toMatchObject({ escalation_level: 2, decided_by: null, escalation_reason: expect.stringContaining('admin') });
    expect(Date.parse(String(seen['expires_at']))).toBeGreaterThan(Date.now() + 1_000_000);
    expect((await recordedOf(request)).map(([event]) => event)).toEqual(['hitl.timed_out', 'hitl.escalated']);
    // Nobody of them decides either: now there is nobody left to ask.
    await makeDue(server, [request.id]);
    expect(await sweptTo(server, request.id, 'timed_out')).toMatchObject(REJECTED);
  });

  test('what needs several people by now is rejected', async () => {
    const request = await asked({ hitlTimeoutAction: 'approve' });
    await aPerson(server, 'admin');
    (await root.patch(`/api/v1/agents/${request.agent.id}/capabilities/email.send`,
      { quorum: { approvals: 2 }, hitlTimeoutAction: 'reject' })).expect(200);
    await makeDue(server, [request.id]);
    expect(await sweptTo(server, request.id, 'timed_out')).toMatchObject(REJECTED);
  });

  test('one after the other where a limit was tightened: what is given back counts for the next', async () => {
    const agent = await anAgent(server)
      .granted('email.send', { hitlMode: 'propose', hitlTimeoutAction: 'approve', limits: [callLimit(3, 'block', 'total')] }).create();
    const requests = [await ask(agent), await ask(agent), await ask(agent)];
    (await root.patch(`/api/v1/agents/${agent.id}/capabilities/email.send`, { limits: [callLimit(2, 'block', 'total')] })).expect(200);
    await makeDue(server, requests.map(({ id }) => id));
    for (const { execution } of requests) expect((await executionOf(server, execution, 20)).status).toMatch(/^(executed|cancelled)$/);
    const seen = await Promise.all(requests.map(({ id }) => requestOf(server, id)));
    expect(tally(seen)).toEqual({ approved: 2, cancelled: 1 });
    expect(await wrongTotals(server)).toEqual([]);
  });

  test('a stop holds it; lifted, it is approved', async () => {
    const request = await asked({ hitlTimeoutAction: 'approve' });
    const stop = (await root.post('/api/v1/stops', { scope: 'agent', id: request.agent.id, reason: 'held' })).expect(201).text('stop.id');
    await makeDue(server, [request.id]);
    (await root.post(`/api/v1/hitl/${request.id}/timeout`)).expect(403, 'STOPPED');
    (await root.post('/api/v1/hitl/check-timeouts')).expect(200);
    expect(await requestOf(server, request.id)).toMatchObject({ status: 'pending' });
    (await root.delete(`/api/v1/stops/${stop}`)).expect(204);
    await sweptTo(server, request.id, 'approved');
  });
});

describe('a late click', () => {
  test.each(['approve', 'reject', 'cancel'])('%s is 409 HITL_EXPIRED before the sweep and after it', async (decision) => {
    const { id } = await asked();
    const click = () => root.post(`/api/v1/hitl/${id}/${decision}`);
    await withoutSweeper(server, async () => {
      await makeDue(server, [id]);
      expect((await click()).expect(409, 'HITL_EXPIRED').at('request')).toMatchObject({ id, status: 'pending' });
    });
    await sweptTo(server, id, 'timed_out');
    expect((await click()).expect(409, 'HITL_EXPIRED').at('request')).toMatchObject({ id, status: 'timed_out' });
  });
});

describe('a click after time has decided', () => {
  test.each([['approve', 'approved'], ['notify_only', 'timed_out']])('%s: 409 HITL_EXPIRED, with the state', async (action, status) => {
    const { id } = await asked({ hitlTimeoutAction: action });
    await makeDue(server, [id]);
    await sweptTo(server, id, status);
    for (const decision of ['approve', 'reject', 'cancel']) {
      expect((await root.post(`/api/v1/hitl/${id}/${decision}`)).expect(409, 'HITL_EXPIRED').at('request')).toMatchObject({ id, status });
    }
  });
});

describe('check-timeouts', () => {
  test('ends what is due of the caller\'s organization by each action, and counts', async () => {
    const organizationId = await anOrganization(server);
    const admin = await aPerson(server, 'admin', { organizationId });
    const actions = ['reject', 'notify_only', 'approve', 'escalate'];
    const requests: Asked[] = [];
    for (const hitlTimeoutAction of actions) {
      requests.push(await ask(await anAgent(server).inOrganization(organizationId)
        .granted('email.send', { hitlMode: 'propose', hitlTimeoutAction }).create()));
    }
    const others = await asked();
    await withoutSweeper(server, async () => {
      await makeDue(server, [...requests, others].map(({ id }) => id));
      expect((await admin.client.get('/api/v1/hitl/check-timeouts')).expect(200).body)
        .toEqual({ checked: 4, timedOut: 2, approved: 1, escalated: 1 });
      expect((await admin.client.post('/api/v1/hitl/check-timeouts')).expect(200).body)
        .toEqual({ checked: 0, timedOut: 0, approved: 0, escalated: 0 });
      expect(await requestOf(server, others.id)).toMatchObject({ status: 'pending' });
    });
    const statuses = await Promise.all(requests.map(async ({ id }) => (await requestOf(server, id)).status));
    expect(statuses).toEqual(['timed_out', 'timed_out', 'approved', 'escalated']);
    for (const request of requests) for (const [, actor] of await recordedOf(request)) expect(actor).toBe('system');
    await sweptTo(server, others.id, 'timed_out');
  });
});
