import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { auditOf, eventsOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { defineCapability, executionBecomes, executionOf, pauseOutbox, requestOf, resumeOutbox } from '../../support/builders/gate.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { EXECUTE } from '../../support/http/paths.js';

let server: TestServer;
let root: Client;
let receiver: Receiver;
let names = 0;

beforeAll(async () => {
  [server, receiver] = await Promise.all([startServer({ env: { HITL_MAX_PENDING_PER_AGENT: '3' } }), startReceiver()]);
  root = asRoot(server);
});

afterAll(async () => {
  await server.stop();
  await receiver.close();
});

interface Asked {
  readonly agent: BuiltAgent;
  readonly capability: string;
  readonly id: string;
  readonly execution: string;
}

/** A request for a capability of its own that a connector runs. */
async function asked(): Promise<Asked> {
  const capability = `crm.push-${++names}`;
  await defineCapability(server, capability, { connector: connectorTo(receiver.url) });
  const agent = await anAgent(server).granted(capability, { hitlMode: 'propose' }).create();
  const reply = (await agent.client.post(EXECUTE, { capability, input: { amount: 5 } })).expect(202);
  return { agent, capability, id: reply.text('hitlRequestId'), execution: reply.text('executionId') };
}

const connectorTo = (url: string) => ({ type: 'http', method: 'POST', url, body: '{input}' });

const grantPath = ({ agent, capability }: Asked): string => `/api/v1/agents/${agent.id}/capabilities/${capability}`;

const OBSTACLES: readonly (readonly [name: string, make: (request: Asked) => Promise<unknown>])[] = [
  ['the grant is revoked', async ({ agent }) => {
    const [grant] = (await root.get(`/api/v1/agents/${agent.id}/capabilities`)).list('grants') as { id: string }[];
    (await root.delete(`/api/v1/capabilities/grant/${grant!.id}`)).expect(204);
  }],
  ['the agent is deactivated', async ({ agent }) => (await root.post(`/api/v1/agents/${agent.id}/deactivate`)).expect(200)],
  ['the grant blocks now', async (request) => (await root.patch(grantPath(request), { hitl_mode: 'block' })).expect(200)],
  ['a condition blocks now', async (request) =>
    (await root.patch(grantPath(request), { conditions: [{ when: 'input.amount > 1', hitlMode: 'block' }] })).expect(200)],
  ['the grant has run out', async (request) =>
    (await root.patch(grantPath(request), { expires_at: new Date(Date.now() + 50).toISOString() })).expect(200)
      && new Promise((resolve) => setTimeout(resolve, 80))],
  ['the connector is another', async ({ capability }) =>
    (await root.patch(`/api/v1/capabilities/${capability}`, { connector: connectorTo(`${receiver.url}/elsewhere`) }))
      .expect(200)],
  ['the input schema is another', async ({ capability }) =>
    (await root.patch(`/api/v1/capabilities/${capability}`, { inputSchema: { type: 'object' } })).expect(200)],
  ['the stored payload was edited', ({ id }) =>
    server.sql(`update hitl_requests set input = '{"amount":5000}' where id = $1`, [id])],
  ['the stored capability was edited', async ({ id, agent }) => {
    (await root.post('/api/v1/capabilities/grant', { agentId: agent.id, capability: 'web.search', hitlMode: 'auto' }))
      .expect(201);
    await server.sql(`update hitl_requests set capability = 'web.search' where id = $1`, [id]);
  }],
  ['payload and digest were edited to match each other\'s length', ({ id }) =>
    server.sql(`update hitl_requests set input = '{"amount":6}', digest = repeat('0', 64) where id = $1`, [id])],
];

describe('at approval: 409 NOT_EXECUTABLE, the request is cancelled by the system, nothing runs', () => {
  test.each(OBSTACLES)('%s', async (_name, make) => {
    const request = await asked();
    const before = receiver.requests.length;
    await make(request);
    const reply = (await root.post(`/api/v1/hitl/${request.id}/approve`)).expect(409, 'NOT_EXECUTABLE');
    expect(reply.at('request')).toEqual({
      id: request.id, status: 'cancelled', decidedBy: 'system', decidedAt: (await requestOf(server, request.id)).decided_at,
    });
    expect(await requestOf(server, request.id)).toMatchObject({
      status: 'cancelled', decided_by: 'system', decided_at: expect.any(String), decision: { outcome: 'cancelled', by: 'system' },
    });
    expect(await executionOf(server, request.execution)).toMatchObject({ status: 'cancelled' });
    const entry = (await auditOf(server, request.agent.id)).findLast(({ event }) => event.startsWith('hitl.'))!;
    expect(entry).toMatchObject({
      event: 'hitl.cancelled', actorId: 'system', metadata: { hitlId: request.id, reason: expect.stringMatching(/^[a-z_]+$/) },
    });
    expect((await eventsOf(server, request.agent.id)).filter((event) => event.startsWith('execution.'))).toEqual([]);
    expect(receiver.requests).toHaveLength(before);
    (await root.post(`/api/v1/hitl/${request.id}/approve`)).expect(409, 'HITL_ALREADY_DECIDED');
  });
});

describe('between approval and run: the request stays approved, its execution is cancelled without a start', () => {
  test.each(OBSTACLES)('%s', async (_name, make) => {
    const request = await asked();
    const before = receiver.requests.length;
    await pauseOutbox(server);
    try {
      const reply = await root.post(`/api/v1/hitl/${request.id}/approve`, {}, { query: { wait: 0 } });
      expect(reply.expect(200).at('request')).toMatchObject({ status: 'approved', execution: { status: 'pending_hitl' } });
      await make(request);
    } finally {
      await resumeOutbox(server);
    }
    const execution = await executionBecomes(server, request.execution, 'cancelled');
    expect(await requestOf(server, request.id))
      .toMatchObject({ status: 'approved', decided_by: 'root', execution: { status: 'cancelled' } });
    const [row] = await server.sql<{ event: string; payload: string }>('select event, payload from audit_entries where id = $1',
      [execution.auditId]);
    expect(row!.event).toBe('execution.cancelled');
    expect(JSON.parse(row!.payload)).toMatchObject({
      actorId: 'system', outcome: 'success', origin: { via: 'worker' },
      metadata: { executionId: request.execution, hitlId: request.id, reason: expect.stringMatching(/^[a-z_]+$/) },
    });
    const events = await server.sql<{ event: string }>(`select event from audit_entries where chain = $1 and event like 'execution.%'`,
      [request.agent.id]);
    expect(events).toEqual([{ event: 'execution.cancelled' }]);
    expect(receiver.requests).toHaveLength(before);
  });
});

describe('what is no obstacle', () => {
  test.each([
    ['a milder mode', 'auto'],
    ['the same mode', 'propose'],
    ['a stricter mode that this decider may satisfy', 'escalate'],
  ])('%s', async (_name, hitl_mode) => {
    const request = await asked();
    (await root.patch(grantPath(request), { hitl_mode })).expect(200);
    const reply = (await root.post(`/api/v1/hitl/${request.id}/approve`)).expect(200);
    expect(reply.at('request.execution')).toMatchObject({ status: 'executed' });
  });

  test('a grant given anew: the request lives, and the start names the version that it ran under', async () => {
    const request = await asked();
    (await root.patch(grantPath(request), { hitl_timeout_seconds: 60 })).expect(200);
    (await root.post(`/api/v1/hitl/${request.id}/approve`)).expect(200);
    const started = (await auditOf(server, request.agent.id)).find(({ event }) => event === 'execution.started');
    expect(started?.metadata).toMatchObject({ grantVersion: 2 });
  });
});

test('edits of the execution\'s copy: nothing runs, for what is shown of an execution is what ran', async () => {
  const request = await asked();
  const before = receiver.requests.length;
  await server.sql(`update executions set input = '{"amount":9999}' where id = $1`, [request.execution]);
  (await root.post(`/api/v1/hitl/${request.id}/approve`)).expect(200);
  expect(await executionBecomes(server, request.execution, 'cancelled')).toMatchObject({ reason: 'approval_mismatch' });
  expect(receiver.requests.slice(before)).toEqual([]);
});

describe('removal of an agent', () => {
  test('cancels its open requests, by the system', async () => {
    const agent = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).granted('phone.call').create();
    const asks = await Promise.all(['email.send', 'phone.call'].map((capability) => agent.client.post(EXECUTE, { capability })));
    (await root.delete(`/api/v1/agents/${agent.id}`)).expect(204);
    for (const ask of asks) {
      expect(await requestOf(server, ask.text('hitlRequestId'))).toMatchObject({
        status: 'cancelled', decided_by: 'system', decision: { outcome: 'cancelled', by: 'system' },
      });
      expect(await executionOf(server, ask.text('executionId'))).toMatchObject({ status: 'cancelled' });
      (await root.post(`/api/v1/hitl/${ask.text('hitlRequestId')}/approve`)).expect(409, 'HITL_ALREADY_DECIDED');
    }
    const rows = await server.sql<{ event: string; actor_id: string }>(
      'select event, actor_id from audit_entries where chain = $1 order by seq',
      [agent.id]);
    expect(rows.filter(({ event }) => event === 'hitl.cancelled').map(({ actor_id }) => actor_id)).toEqual(['system', 'system']);
    expect(rows.filter(({ event }) => event === 'capability.revoked')).toHaveLength(2);
    expect(rows.filter(({ event }) => event === 'agent.removed')).toHaveLength(1);
  });

  test('cancels what was approved and has not begun, at once; its tokens are over', async () => {
    const request = await asked();
    const before = receiver.requests.length;
    const state = async () => (await server.sql<{ epoch: string; spent: number }>(
      `select epoch, (select count(*)::integer from refreshed_tokens t where t.agent_id = a.id) as spent from agents a where id = $1`,
      [request.agent.id]))[0]!;
    await server.sql(`insert into refreshed_tokens (organization_id, agent_id, jti, spent_until)
      select organization_id, id, 'late', clock_timestamp() + interval '1 day' from agents where id = $1`, [request.agent.id]);
    const { epoch } = await state();
    await pauseOutbox(server);
    try {
      (await root.post(`/api/v1/hitl/${request.id}/approve`, {}, { query: { wait: 0 } })).expect(200);
      (await root.delete(`/api/v1/agents/${request.agent.id}`)).expect(204);
      // The worker has not seen it: the outbox stands still.
      expect(await executionOf(server, request.execution)).toMatchObject({ status: 'cancelled', reason: 'agent_removed' });
    } finally {
      await resumeOutbox(server);
    }
    await eventually(async () => expect(await server.sql(`select 1 from outbox where kind = 'execution.run'`)).toEqual([]),
      { every: 100 });
    expect(await requestOf(server, request.id)).toMatchObject({ status: 'approved', execution: { status: 'cancelled' } });
    const entries = (await auditOf(server, request.agent.id)).filter(({ event }) => event.startsWith('execution.'));
    expect(entries).toEqual([expect.objectContaining({
      event: 'execution.cancelled', actorId: 'system',
      metadata: { executionId: request.execution, hitlId: request.id, reason: 'agent_removed' },
    })]);
    expect(receiver.requests).toHaveLength(before);
    const after = await state();
    expect([Number(after.epoch) > Number(epoch), after.spent]).toEqual([true, 0]);
  });

  test('deactivation leaves them open', async () => {
    const request = await asked();
    (await root.post(`/api/v1/agents/${request.agent.id}/deactivate`)).expect(200);
    expect(await requestOf(server, request.id)).toMatchObject({ status: 'pending' });
  });
});

describe('the cap of open requests', () => {
  let agent: BuiltAgent;

  beforeEach(async () => {
    agent = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).granted('web.search').create();
  });

  const ask = () => agent.client.post(EXECUTE, { capability: 'email.send' });

  test('the fourth of three is 429 and makes nothing; a place is free again after each decision', async () => {
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push((await ask()).expect(202).text('hitlRequestId'));
    for (const decision of ['approve', 'reject', 'cancel', 'timeout']) {
      const before = await eventsOf(server, agent.id);
      const refused = (await ask()).expect(429, 'TOO_MANY_PENDING');
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(await eventsOf(server, agent.id)).toEqual(before);
      (await agent.client.post('/api/v1/hitl', { capability: 'email.send' })).expect(429, 'TOO_MANY_PENDING');
      (await root.post(`/api/v1/hitl/${ids.shift()}/${decision}`)).expect(200);
      ids.push((await ask()).expect(202).text('hitlRequestId'));
    }
    (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(200);
  });

  test('parallel calls never pass it together', async () => {
    const replies = await Promise.all(Array.from({ length: 24 }, ask));
    expect(replies.filter(({ status }) => status === 202)).toHaveLength(3);
    for (const reply of replies) if (reply.status !== 202) reply.expect(429, 'TOO_MANY_PENDING');
    expect((await root.get('/api/v1/hitl', { query: { agentId: agent.id } })).at('total')).toBe(3);
  });
});
