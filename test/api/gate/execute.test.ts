import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { auditOf, eventsOf } from '../../support/log/entries.js';
import { anAgent } from '../../support/builders/agents.js';
import { executionOf } from '../../support/builders/gate.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { keepEvents, keptEvents } from '../../support/notifications/kept-events.js';
import { EXECUTE } from '../../support/http/paths.js';

const HARDCODED = ['phone.call', 'finance.transfer', 'finance.payment', 'system.shutdown', 'data.delete'];

let server: TestServer;
let root: Client;

beforeAll(async () => {
  server = await startServer();
  await keepEvents(server);
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
      durationMs: expect.any(Number), effectiveMode: 'auto', flagged: false, runs: 'caller',
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
    expect(await keptEvents(server, reply.text('executionId'))).toMatchObject([{ event: 'execution.notified' }]);
  });

  test.each([
    ['propose', 'pending', 0],
    ['escalate', 'escalated', 2],
  ])('%s makes a request and runs nothing', async (hitlMode, status, level) => {
    const agent = await anAgent(server).granted('web.search', { hitlMode }).create();
    const reply = (await agent.client.post(EXECUTE, { capability: 'web.search', input: { q: 1 } })).expect(202);
    expect(reply.body).toEqual({
      status: 'pending_hitl', executionId: expect.stringMatching(/^exec_/), hitlRequestId: expect.stringMatching(/^hitl_/),
      effectiveMode: hitlMode, flagged: false, runs: 'caller', expiresAt: expect.any(String),
      reasons: [{ rule: 'grant_mode', detail: `The grant says ${hitlMode}.` }],
    });
    const request = (await root.get(`/api/v1/hitl/${reply.text('hitlRequestId')}`)).expect(200);
    expect(request.body).toMatchObject({ status, hitl_mode: hitlMode, escalation_level: level, input: { q: 1 },
      runs: 'caller' });
    expect(await executionOf(server, reply.text('executionId'))).toMatchObject({ status: 'pending_hitl' });
    expect((await eventsOf(server, agent.id)).filter((event) => /^(execution|hitl)\./.test(event))).toEqual(['hitl.created']);
  });

  test('block is a result, one entry and no start', async () => {
    const agent = await anAgent(server).granted('web.search', { hitlMode: 'block' }).create();
    const reply = (await agent.client.post(EXECUTE, { capability: 'web.search', input: { q: 1 } })).expect(200);
    expect(reply.body).toEqual({
      status: 'blocked', reason: 'capability blocked by policy', executionId: expect.any(String), auditId: expect.any(String),
      effectiveMode: 'block', flagged: false, reasons: [{ rule: 'grant_mode', detail: 'The grant says block.' }],
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

async function revoke(agentId: string, capability: string): Promise<void> {
  const held = (await root.get(`/api/v1/agents/${agentId}/capabilities`)).expect(200)
    .list('grants') as { id: string; capability: string }[];
  const grant = held.find((one) => one.capability === capability);
  (await root.delete(`/api/v1/capabilities/grant/${grant?.id}`)).expect(204);
}
