import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asAgent, asRoot, type Client } from '../../support/http/actors.js';
import { auditOf, eventsOf } from '../../support/log/entries.js';
import { anAgent } from '../../support/builders/agents.js';
import { defineCapability, executionOf } from '../../support/builders/gate.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { EXECUTE } from '../../support/http/paths.js';

let server: TestServer;
let root: Client;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
});

afterAll(() => server.stop());

async function counts(): Promise<Record<string, string>> {
  const tables = ['executions', 'hitl_requests', 'outbox', 'idempotency_keys'];
  const [row] = await server.sql<Record<string,
    string>>(`select ${tables.map((name) => `(select count(*) from ${name}) as ${name}`).join(', ')}`);
  return row!;
}

describe('who may call', () => {
  test('skipHitl is refused from whoever sends it, in both spellings', async () => {
    const agent = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).create();
    const entries = (await auditOf(server, agent.id)).length;
    for (const client of [agent.client, root]) {
      for (const name of ['skipHitl', 'skip_hitl']) {
        const body = { capability: 'email.send', agentId: agent.id, [name]: true };
        (await client.post(EXECUTE, body)).expect(403, 'FORBIDDEN');
      }
    }
    expect(await auditOf(server, agent.id)).toHaveLength(entries);
  });

  test('root acts for the agent it names, and must name one', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    const reply = (await root.post(EXECUTE, { capability: 'web.search', agent_id: agent.id })).expect(200);
    expect(await executionOf(server, reply.text('executionId'))).toMatchObject({ agentId: agent.id, status: 'executed' });
    expect((await auditOf(server, agent.id)).at(-2))
      .toMatchObject({ event: 'execution.started', actorId: 'root', agentId: agent.id });
    (await root.post(EXECUTE, { capability: 'web.search' })).expect(400, 'VALIDATION_FAILED');
    (await root.post(EXECUTE, { capability: 'web.search', agentId: 'agt_00000000000000000000000000000000000000' })).expect(404);
  });

  test("root is no way around the agent's grants", async () => {
    const agent = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).create();
    (await root.post(EXECUTE, { capability: 'email.send', agentId: agent.id })).expect(202);
    (await root.post(EXECUTE, { capability: 'web.search', agentId: agent.id })).expect(403, 'CAPABILITY_NOT_GRANTED');
  });

  test("another's agentId is refused, one's own is not", async () => {
    const [one, other] = [await anAgent(server).granted('web.search').create(), await anAgent(server).granted('web.search')
      .create()];
    (await one.client.post(EXECUTE, { capability: 'web.search', agentId: other.id })).expect(403, 'FORBIDDEN');
    (await one.client.post(EXECUTE, { capability: 'web.search', agentId: one.id })).expect(200);
    expect((await eventsOf(server, other.id)).filter((event) => event.startsWith('execution.'))).toEqual([]);
  });

  test('both paths are one operation', async () => {
    const agent = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
    (await agent.client.post('/api/v1/executions', { capability: 'web.search', payload: { q: 1 } })).expect(200);
    expect((await agent.client.post('/api/v1/executions', { capability: 'email.send' })).expect(202).at('status'))
      .toBe('pending_hitl');
    (await agent.client.post('/api/v1/executions', { capability: 'file.read' })).expect(403, 'CAPABILITY_NOT_GRANTED');
  });

  test('input and payload are one member; two different ones are an error', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    const reply = await agent.client.post(EXECUTE, { capability: 'web.search', payload: { q: 1 } });
    expect(await executionOf(server, reply.text('executionId'))).toMatchObject({ input: { q: 1 } });
    (await agent.client.post(EXECUTE, { capability: 'web.search', input: { q: 1 }, payload: { q: 2 } }))
      .expect(400, 'VALIDATION_FAILED');
    (await agent.client.post(EXECUTE, { capability: 'web.search', input: [1] })).expect(400, 'VALIDATION_FAILED');
    (await agent.client.post(EXECUTE, {})).expect(400, 'VALIDATION_FAILED');
  });

  test('without a credential, or with a broken one: 401', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    for (const token of [`${agent.token}x`, 'svc_root_' + '0'.repeat(64), 'nonsense']) {
      (await asAgent(server, token).post(EXECUTE, { capability: 'web.search' })).expect(401, 'UNAUTHENTICATED');
    }
  });
});

describe('refusals and their entries', () => {
  test('the token lacks it: 403 and no entry, with a remedy where a grant exists', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    const before = (await auditOf(server, agent.id)).length;
    const [executions] = [await counts()];
    (await agent.client.post(EXECUTE, { capability: 'email.send' })).expect(403, 'CAPABILITY_NOT_GRANTED');
    expect(await auditOf(server, agent.id)).toHaveLength(before);
    (await root.post('/api/v1/capabilities/grant', { agentId: agent.id, capability: 'email.send', hitlMode: 'auto' }))
      .expect(201);
    const reply = (await agent.client.post(EXECUTE, { capability: 'email.send' })).expect(403, 'CAPABILITY_NOT_IN_TOKEN');
    expect(reply.text('detail')).toMatch(/refresh/i);
    expect((await eventsOf(server, agent.id)).slice(before)).toEqual(['capability.granted']);
    expect(await counts()).toEqual(executions);
  });

  test('the grant is revoked: 403 and one entry with the code', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    await revoke(agent.id, 'web.search');
    (await agent.client.post(EXECUTE, { capability: 'web.search', input: { q: 1 } })).expect(403, 'CAPABILITY_NOT_GRANTED');
    const [revoked, blocked, ...more] = (await auditOf(server, agent.id)).slice(-2);
    expect([revoked!.event, more]).toEqual(['capability.revoked', []]);
    expect(blocked).toMatchObject({
      event: 'execution.blocked', outcome: 'blocked', capability: 'web.search', metadata: { reason: 'CAPABILITY_NOT_GRANTED' },
    });
  });

  test('the agent is deactivated: 403 and one entry; its token is dead after it is active again', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    (await root.post(`/api/v1/agents/${agent.id}/deactivate`)).expect(200);
    (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(403, 'AGENT_INACTIVE');
    expect((await auditOf(server, agent.id)).at(-1))
      .toMatchObject({ event: 'execution.blocked', metadata: { reason: 'AGENT_INACTIVE' } });
    (await root.post(`/api/v1/agents/${agent.id}/activate`)).expect(200);
    (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(401, 'UNAUTHENTICATED');
  });

  test('the agent is removed: 403 for its token on the gate', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    (await root.delete(`/api/v1/agents/${agent.id}`)).expect(204);
    (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(403, 'AGENT_INACTIVE');
    (await root.post(EXECUTE, { capability: 'web.search', agentId: agent.id })).expect(404, 'NOT_FOUND');
  });

  test('every token is revoked: 401 on the next call', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    (await root.delete(`/api/v1/agents/${agent.id}/tokens`)).expect(204);
    (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(401, 'UNAUTHENTICATED');
  });

  test('a grant past its time is no grant, on the very next call', async () => {
    const expiresAt = new Date(Date.now() + 1_500).toISOString();
    const agent = await anAgent(server).granted('web.search', { expiresAt }).create();
    (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(200);
    await new Promise((resolve) => setTimeout(resolve, Date.parse(expiresAt) - Date.now() + 5));
    (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(403, 'CAPABILITY_NOT_GRANTED');
    expect((await auditOf(server, agent.id)).at(-1)).toMatchObject({
      event: 'execution.blocked', metadata: { reason: 'CAPABILITY_NOT_GRANTED' },
    });
  });
});

describe('flagged', () => {
  test.each([
    ['minimal', false],
    ['limited', false],
    ['high', true],
    ['unacceptable', true],
  ])('at risk %s: %s, in answer, execution and every entry', async (risk, flagged) => {
    const agent = await anAgent(server).risk(risk).granted('web.search').granted('email.send', { hitlMode: 'propose' })
      .granted('file.read', { hitlMode: 'block' }).create();
    for (const capability of ['web.search', 'email.send', 'file.read']) {
      const reply = await agent.client.post(EXECUTE, { capability });
      expect(reply.at('flagged')).toBe(flagged);
      expect(await executionOf(server, reply.text('executionId'))).toMatchObject({ flagged });
    }
    const marks = (await auditOf(server, agent.id)).filter(({ event }) => /^(execution|hitl)\./.test(event))
      .map(({ metadata }) => metadata['flagged']);
    expect(marks).toEqual(Array.from({ length: 4 }, () => (flagged ? true : undefined)));
  });
});

describe('the input', () => {
  beforeAll(async () => {
    await defineCapability(server, 'crm.update', {
      defaultHitlMode: 'propose',
      inputSchema: {
        type: 'object', required: ['id'], additionalProperties: false,
        properties: { id: { type: 'string', pattern: '^c[0-9]+$' }, tier: { enum: ['a', 'b'] } },
      },
    });
    await defineCapability(server, 'crm.push', {
      connector: { type: 'http', method: 'POST', url: 'http://127.0.0.1:9/things/{input.id}', body: { name: '{input.name}' } },
    });
  });

  test.each([
    [{}, '/input'],
    [{ id: 'x1' }, '/input/id'],
    [{ id: 'c1', tier: 'z' }, '/input/tier'],
    [{ id: 'c1', more: 1 }, '/input'],
  ])('%j does not fit the schema: 422, before anybody is asked', async (input, pointer) => {
    const agent = await anAgent(server).granted('crm.update', { hitlMode: 'propose' }).create();
    const before = await auditOf(server, agent.id);
    const reply = (await agent.client.post(EXECUTE, { capability: 'crm.update', input })).expect(422, 'INVALID_INPUT');
    expect((reply.list('errors') as { pointer: string }[]).some((error) => error.pointer.startsWith(pointer))).toBe(true);
    expect(await auditOf(server, agent.id)).toHaveLength(before.length);
  });

  test('what fits is asked about', async () => {
    const agent = await anAgent(server).granted('crm.update', { hitlMode: 'propose' }).create();
    (await agent.client.post(EXECUTE, { capability: 'crm.update', input: { id: 'c7', tier: 'a' } })).expect(202);
  });

  test.each([
    [{ name: 'x' }, '/input/id'],
    [{ id: 'c1' }, '/input/name'],
    [{ id: '', name: 'x' }, '/input/id'],
    [{ id: '..', name: 'x' }, '/input/id'],
    [{ id: '%2e%2e', name: 'x' }, '/input/id'],
  ])('%j cannot fill the connector: 422 at %s', async (input, pointer) => {
    const agent = await anAgent(server).granted('crm.push', { hitlMode: 'propose' }).create();
    const reply = (await agent.client.post(EXECUTE, { capability: 'crm.push', input })).expect(422, 'INVALID_INPUT');
    expect(reply.list('errors')).toEqual([expect.objectContaining({ pointer })]);
    expect((await root.get('/api/v1/hitl', { query: { agentId: agent.id } })).at('total')).toBe(0);
  });
});

describe('the order of the checks', () => {
  test('the token comes before the agent, the agent before the grant, the grant before the schema', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    await revoke(agent.id, 'web.search');
    (await root.post(`/api/v1/agents/${agent.id}/deactivate`)).expect(200);
    (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(403, 'AGENT_INACTIVE');
    (await agent.client.post(EXECUTE, { capability: 'email.send' })).expect(403, 'CAPABILITY_NOT_GRANTED');
    const typed = await anAgent(server).granted('crm.update').create();
    await revoke(typed.id, 'crm.update');
    (await typed.client.post(EXECUTE, { capability: 'crm.update', input: { id: 'wrong' } }))
      .expect(403, 'CAPABILITY_NOT_GRANTED');
  });
});

async function revoke(agentId: string, capability: string): Promise<void> {
  const held = (await root.get(`/api/v1/agents/${agentId}/capabilities`)).expect(200)
    .list('grants') as { id: string; capability: string }[];
  const grant = held.find((one) => one.capability === capability);
  (await root.delete(`/api/v1/capabilities/grant/${grant?.id}`)).expect(204);
}
