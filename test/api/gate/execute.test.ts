import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asAgent, asRoot, type Client } from '../../support/http/actors.js';
import { auditOf, eventsOf } from '../../support/log/entries.js';
import { anAgent } from '../../support/builders/agents.js';
import { defineCapability, executionOf } from '../../support/builders/gate.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const HARDCODED = ['phone.call', 'finance.transfer', 'finance.payment', 'system.shutdown', 'data.delete'];
const EXECUTE = '/api/v1/execute';

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

describe('the five modes', () => {
  test('auto runs and answers with the closing entry of its chain', async () => {
    const agent = await anAgent(server).granted('web.search', { hitlMode: 'auto' }).create();
    const reply = (await agent.client.post(EXECUTE, { capability: 'web.search', input: { q: 'steel' } })).expect(200);
    expect(reply.body).toEqual({
      status: 'executed', executionId: expect.stringMatching(/^exec_/), auditId: expect.stringMatching(/^audit_/),
      durationMs: expect.any(Number), effectiveMode: 'auto', flagged: false,
    });
    const [started, closing] = (await auditOf(server, agent.id)).slice(-2);
    expect(started).toMatchObject({ event: 'execution.started', agentId: agent.id, actorId: agent.id, capability: 'web.search' });
    expect(started!.outcome).toBeUndefined();
    expect(closing).toMatchObject({ id: reply.text('auditId'), event: 'execution.completed', outcome: 'executed',
      prevHash: started!.hash });
    expect(closing!.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(await executionOf(server, reply.text('executionId'))).toMatchObject({
      status: 'executed', runtime: 'receipt', agentId: agent.id, capability: 'web.search', input: { q: 'steel' },
        auditId: closing!.id,
    });
  });

  test('the first entry of a chain has no prevHash, each later one has the hash before it', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    await agent.client.post(EXECUTE, { capability: 'web.search' });
    const entries = await auditOf(server, agent.id);
    expect(Object.hasOwn(entries[0]!, 'prevHash')).toBe(false);
    expect(entries.slice(1).map(({ prevHash }) => prevHash)).toEqual(entries.slice(0, -1).map(({ hash }) => hash));
  });

  test('notify runs at once and leaves word for people', async () => {
    const agent = await anAgent(server).granted('web.search', { hitlMode: 'notify' }).create();
    const reply = (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(200);
    expect(reply.body).toMatchObject({ status: 'executed', effectiveMode: 'notify', auditId: expect.stringMatching(/^audit_/) });
    const told = await server.sql(`select 1 from outbox where kind = 'notification.send' and payload ->> 'event' = 'execution.notified'
      and payload ->> 'executionId' = $1`, [reply.text('executionId')]);
    expect(told).toHaveLength(1);
  });

  test.each([
    ['propose', 'pending', 0],
    ['escalate', 'escalated', 2],
  ])('%s makes a request and runs nothing', async (hitlMode, status, level) => {
    const agent = await anAgent(server).granted('web.search', { hitlMode }).create();
    const reply = (await agent.client.post(EXECUTE, { capability: 'web.search', input: { q: 1 } })).expect(202);
    expect(reply.body).toEqual({
      status: 'pending_hitl', executionId: expect.stringMatching(/^exec_/), hitlRequestId: expect.stringMatching(/^hitl_/),
      effectiveMode: hitlMode, flagged: false,
    });
    const request = (await root.get(`/api/v1/hitl/${reply.text('hitlRequestId')}`)).expect(200);
    expect(request.body).toMatchObject({ status, hitl_mode: hitlMode, escalation_level: level, input: { q: 1 },
      runs: 'service' });
    expect(await executionOf(server, reply.text('executionId'))).toMatchObject({ status: 'pending_hitl' });
    expect((await eventsOf(server, agent.id)).filter((event) => /^(execution|hitl)\./.test(event))).toEqual(['hitl.created']);
  });

  test('block is a result, one entry and no start', async () => {
    const agent = await anAgent(server).granted('web.search', { hitlMode: 'block' }).create();
    const reply = (await agent.client.post(EXECUTE, { capability: 'web.search', input: { q: 1 } })).expect(200);
    expect(reply.body).toEqual({
      status: 'blocked', reason: 'capability blocked by policy', executionId: expect.any(String), auditId: expect.any(String),
      effectiveMode: 'block', flagged: false,
    });
    const entries = (await auditOf(server, agent.id)).filter(({ event }) => /^(execution|hitl)\./.test(event));
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({ id: reply.text('auditId'), event: 'execution.blocked', outcome: 'blocked',
      capability: 'web.search' });
    expect(await executionOf(server, reply.text('executionId')))
      .toMatchObject({ status: 'blocked', reason: 'capability blocked by policy' });
  });
});

describe('the three words', () => {
  test.each([
    ['never', 'high', 200, 'auto'],
    ['always', 'minimal', 202, 'propose'],
    ['on_risk', 'minimal', 200, 'auto'],
    ['on_risk', 'limited', 200, 'auto'],
    ['on_risk', 'high', 202, 'propose'],
    ['on_risk', 'unacceptable', 202, 'propose'],
  ])('%s at risk %s', async (hitlMode, risk, status, effectiveMode) => {
    const agent = await anAgent(server).risk(risk).granted('web.search', { hitlMode }).create();
    const reply = await agent.client.post(EXECUTE, { capability: 'web.search' });
    expect(reply.expect(status).at('effectiveMode')).toBe(effectiveMode);
  });

  test('on_risk is decided at each call: a raised risk counts on the very next one', async () => {
    const agent = await anAgent(server).risk('limited').granted('web.search', { hitlMode: 'on_risk' }).create();
    (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(200);
    (await root.patch(`/api/v1/agents/${agent.id}/risk-level`, { riskLevel: 'high' })).expect(200);
    const reply = (await agent.client.post(EXECUTE, { capability: 'web.search' })).expect(202);
    expect(reply.body).toMatchObject({ effectiveMode: 'propose', flagged: true });
  });
});

describe('hardcoded capabilities', () => {
  test.each(HARDCODED)('%s escalates whatever its grant says', async (capability) => {
    for (const hitlMode of ['auto', 'never', 'notify', 'propose', 'block']) {
      const agent = await anAgent(server).granted(capability, { hitlMode }).create();
      const reply = (await agent.client.post(EXECUTE, { capability })).expect(202);
      expect(reply.body).toMatchObject({ status: 'pending_hitl', effectiveMode: 'escalate' });
      const request = await root.get(`/api/v1/hitl/${reply.text('hitlRequestId')}`);
      expect(request.body).toMatchObject({ status: 'escalated', hitl_mode: 'escalate', escalation_level: 2 });
    }
  });

  test('only a condition blocks one', async () => {
    const conditions = [{ when: 'input.amount > 100', hitlMode: 'block', reason: 'too much' }];
    const agent = await anAgent(server).granted('finance.payment', { hitlMode: 'auto', conditions }).create();
    const pay = (amount: number) => agent.client.post(EXECUTE, { capability: 'finance.payment', input: { amount } });
    expect((await pay(500)).expect(200).body).toMatchObject({ status: 'blocked', effectiveMode: 'block' });
    expect((await pay(5)).expect(202).body).toMatchObject({ effectiveMode: 'escalate' });
  });

  test('another spelling of the name is another name, and unknown', async () => {
    const agent = await anAgent(server).create();
    for (const name of ['Phone.Call', 'phone:call', 'finance.pаyment']) {
      expect((await root.post('/api/v1/capabilities/grant', { agentId: agent.id, capability: name })).status).toBe(404);
      (await agent.client.post(EXECUTE, { capability: name })).expect(403, 'CAPABILITY_NOT_GRANTED');
    }
  });
});

describe('conditions', () => {
  const conditions = [
    { when: 'input.amount > 1000', hitlMode: 'block' },
    { when: 'input.amount > 100', hitlMode: 'propose', reason: 'more than 100' },
    { when: '"night" in agent.tags', hitlMode: 'notify' },
    { when: 'context.session_id == "s1"', hitlMode: 'escalate' },
  ];

  test.each([
    [{ amount: 5 }, { session_id: 's2' }, 'auto'],
    [{ amount: 500 }, { session_id: 's2' }, 'propose'],
    [{ amount: 5_000 }, { session_id: 's1' }, 'block'],
    [{ amount: 5 }, { session_id: 's1' }, 'escalate'],
    // What cannot be evaluated holds: no amount, so the strictest of the conditions that ask for it.
    [{}, { session_id: 's2' }, 'block'],
    [{ amount: 'much' }, { session_id: 's2' }, 'block'],
  ])('%j in %j is %s', async (input, context, effectiveMode) => {
    const agent = await anAgent(server).granted('file.read', { hitlMode: 'auto', conditions }).create();
    const reply = await agent.client.post(EXECUTE, { capability: 'file.read', input, context });
    expect(reply.at('effectiveMode')).toBe(effectiveMode);
  });

  test('they only tighten: a milder one changes nothing, and the order does not matter', async () => {
    const milder = [{ when: 'true', hitlMode: 'auto' }, { when: 'true', hitlMode: 'notify' }];
    const agent = await anAgent(server).granted('file.read', { hitlMode: 'propose', conditions: milder }).create();
    expect((await agent.client.post(EXECUTE, { capability: 'file.read' })).expect(202).at('effectiveMode')).toBe('propose');
    const turned = await anAgent(server).granted('file.read', { conditions: [...conditions].reverse() }).create();
    const reply = await turned.client.post(EXECUTE,
      { capability: 'file.read', input: { amount: 500 }, context: { session_id: 's2' } });
    expect(reply.at('effectiveMode')).toBe('propose');
  });

  test('the reasons name the condition that held, and stand in the entry', async () => {
    const agent = await anAgent(server).granted('file.read', { conditions }).create();
    await agent.client.post(EXECUTE, { capability: 'file.read', input: { amount: 500 }, context: { session_id: 's2' } });
    const created = (await auditOf(server, agent.id)).at(-1)!;
    const reasons = created.metadata['reasons'] as { rule: string; detail: string }[];
    expect(reasons.map(({ rule }) => rule)).toEqual(['grant_mode', 'condition']);
    expect(reasons[1]!.detail).toContain('more than 100');
  });

  test('one that cannot be evaluated says so in the reasons', async () => {
    const agent = await anAgent(server).granted('file.read', { conditions: [{ when: 'input.amount > 1', hitlMode: 'notify' }] })
      .create();
    const dry = (await agent.client.post(EXECUTE, { capability: 'file.read', dryRun: true })).expect(200);
    expect(JSON.stringify(dry.at('reasons'))).toMatch(/cannot be evaluated/);
  });
});

describe('dry run', () => {
  test.each([
    ['auto', 'run'],
    ['notify', 'run'],
    ['propose', 'ask'],
    ['escalate', 'ask'],
    ['block', 'block'],
  ])('of %s tells and creates nothing', async (hitlMode, decision) => {
    const agent = await anAgent(server).granted('web.post', { hitlMode }).create();
    const [before, entries] = [await counts(), (await auditOf(server, agent.id)).length];
    const reply = await agent.client.post(EXECUTE, { capability: 'web.post', dryRun: true },
      { headers: { 'idempotency-key': 'dry' } });
    expect(reply.expect(200).body).toMatchObject({ status: 'dry_run', decision, effectiveMode: hitlMode });
    expect(reply.list('reasons')).not.toHaveLength(0);
    expect(Object.hasOwn(reply.body as object, 'executionId')).toBe(false);
    expect(await counts()).toEqual(before);
    expect(await auditOf(server, agent.id)).toHaveLength(entries);
  });

  test('of a revoked grant writes no entry either', async () => {
    const agent = await anAgent(server).granted('web.post').create();
    await revoke(agent.id, 'web.post');
    const before = (await auditOf(server, agent.id)).length;
    const reply = await agent.client.post(EXECUTE, { capability: 'web.post', dry_run: true });
    expect(JSON.stringify(reply.body)).toContain('CAPABILITY_NOT_GRANTED');
    expect(await auditOf(server, agent.id)).toHaveLength(before);
  });
});

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
