import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { auditOf, eventsOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { defineCapability, executionOf, type SeenExecution } from '../../support/builders/gate.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { EXECUTE } from '../../support/http/paths.js';

const NOBODY = 'exec_00000000000000000000000000000000000000';

let server: TestServer;
let root: Client;
let receiver: Receiver;

beforeAll(async () => {
  [server, receiver] = await Promise.all([startServer(), startReceiver()]);
  root = asRoot(server);
  const connector = { type: 'http', method: 'POST', url: receiver.url, timeoutSeconds: 1 };
  await defineCapability(server, 'crm.push', { connector });
});

afterAll(async () => {
  await server.stop();
  await receiver.close();
});

async function licensed(): Promise<{ agent: BuiltAgent; id: string }> {
  const agent = await anAgent(server).granted('web.search').create();
  return { agent, id: (await agent.client.post(EXECUTE, { capability: 'web.search', input: { q: 1 } })).text('executionId') };
}

async function waiting(): Promise<{ agent: BuiltAgent; id: string; request: string }> {
  const agent = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).create();
  const reply = (await agent.client.post(EXECUTE, { capability: 'email.send' })).expect(202);
  return { agent, id: reply.text('executionId'), request: reply.text('hitlRequestId') };
}

async function indeterminate(): Promise<{ agent: BuiltAgent; id: string }> {
  receiver.script({ reset: true });
  const agent = await anAgent(server).granted('crm.push').create();
  const id = (await agent.client.post(EXECUTE, { capability: 'crm.push' })).text('executionId');
  expect(await executionOf(server, id)).toMatchObject({ status: 'indeterminate' });
  return { agent, id };
}

describe('the list', () => {
  let agent: BuiltAgent;
  let other: BuiltAgent;
  let ids: string[];

  beforeAll(async () => {
    agent = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' })
      .granted('file.read', { hitlMode: 'block' }).create();
    other = await anAgent(server).granted('web.search').create();
    ids = [];
    for (const capability of ['web.search', 'email.send', 'file.read', 'web.search']) {
      ids.push((await agent.client.post(EXECUTE, { capability })).text('executionId'));
    }
    await other.client.post(EXECUTE, { capability: 'web.search' });
  });

  const list = async (client: Client, query: Record<string, string | number>) => {
    const reply = (await client.get('/api/v1/executions', { query })).expect(200);
    return { ids: (reply.list('executions') as SeenExecution[]).map(({ id }) => id), total: reply.number('total'), reply };
  };

  test('newest first, with an exact total', async () => {
    expect(await list(root, { agentId: agent.id })).toMatchObject({ ids: [...ids].reverse(), total: 4 });
    expect(await list(root, { agent_id: agent.id })).toMatchObject({ ids: [...ids].reverse(), total: 4 });
  });

  test('by capability and status', async () => {
    expect(await list(root, { agentId: agent.id, capability: 'web.search' })).toMatchObject({ ids: [ids[3], ids[0]], total: 2 });
    expect(await list(root, { agentId: agent.id, status: 'pending_hitl' })).toMatchObject({ ids: [ids[1]], total: 1 });
    expect(await list(root, { agentId: agent.id, status: 'blocked' })).toMatchObject({ ids: [ids[2]], total: 1 });
    expect(await list(root, { agentId: agent.id, capability: 'no.such' })).toMatchObject({ ids: [], total: 0 });
    (await root.get('/api/v1/executions', { query: { status: 'gone' } })).expect(400, 'VALIDATION_FAILED');
  });

  test('from and to are inclusive, and a bare date is the whole UTC day', async () => {
    const at = String((await executionOf(server, ids[1]!))['createdAt']);
    const [first, last] = [await list(root, { agentId: agent.id, from: at }), await list(root, { agentId: agent.id, to: at })];
    expect(first.ids).toContain(ids[1]);
    expect(last.ids).toContain(ids[1]);
    expect(first.total + last.total).toBeGreaterThanOrEqual(5);
    expect(first.ids).not.toContain(ids[0]);
    const day = at.slice(0, 10);
    expect((await list(root, { agentId: agent.id, from: day, to: day })).total).toBe(4);
    expect((await list(root, { agentId: agent.id, to: '2020-01-01' })).total).toBe(0);
  });

  test('page by page: by offset, and by cursor to the end', async () => {
    expect(await list(root, { agentId: agent.id, limit: 2, offset: 1 })).toMatchObject({ ids: [ids[2], ids[1]], total: 4 });
    const page = await list(root, { agentId: agent.id, limit: 3 });
    const rest = await list(root, { agentId: agent.id, limit: 3, cursor: page.reply.text('nextCursor') });
    expect([...page.ids, ...rest.ids]).toEqual([...ids].reverse());
    expect(Object.hasOwn(rest.reply.body as object, 'nextCursor')).toBe(false);
    (await root.get('/api/v1/executions', { query: { limit: 501 } })).expect(400);
  });

  test('an agent sees its own, in total too; another\'s is not there', async () => {
    expect(await list(agent.client, {})).toMatchObject({ total: 4 });
    expect(await list(agent.client, { agentId: other.id })).toMatchObject({ ids: [], total: 0 });
    (await other.client.get(`/api/v1/executions/${ids[0]}`)).expect(404, 'NOT_FOUND');
    (await agent.client.get(`/api/v1/executions/${ids[0]}`)).expect(200);
    (await root.get(`/api/v1/executions/${NOBODY}`)).expect(404, 'NOT_FOUND');
  });
});

describe('waiting for one', () => {
  test('holds the answer until a person has decided and it has run', async () => {
    const { agent, id, request } = await waiting();
    const held = agent.client.get(`/api/v1/executions/${id}`, { query: { wait: 20 } });
    const began = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 300));
    (await root.post(`/api/v1/hitl/${request}/approve`)).expect(200);
    expect((await held).expect(200).at('execution')).toMatchObject({ status: 'executed', hitlRequestId: request });
    expect(performance.now() - began).toBeGreaterThanOrEqual(290);
    // Not only when the wait was over.
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  test('tells the state as it is when the time is over', async () => {
    const { id } = await waiting();
    const began = performance.now();
    expect(await executionOf(server, id, 1)).toMatchObject({ status: 'pending_hitl' });
    expect(performance.now() - began).toBeGreaterThanOrEqual(950);
    (await root.get(`/api/v1/executions/${id}`, { query: { wait: 56 } })).expect(400, 'VALIDATION_FAILED');
  });

  test.each([
    ['approve', { note: 'fine' }, { status: 'executed', comment: 'fine' }],
    ['reject', { reason: 'no' }, { status: 'cancelled', reason: 'rejected', comment: 'no' }],
    ['cancel', {}, { status: 'cancelled', reason: 'cancelled' }],
    ['timeout', undefined, { status: 'cancelled', reason: 'timed_out' }],
  ])('POST /execute?wait tells what came of it after %s', async (decision, body, expected) => {
    const agent = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).create();
    const held = agent.client.post(EXECUTE, { capability: 'email.send' }, { query: { wait: 20 } });
    const id = await openRequestOf(agent.id);
    (await root.post(`/api/v1/hitl/${id}/${decision}`, body)).expect(200);
    expect((await held).expect(200).body).toMatchObject({ ...expected, hitlRequestId: id,
      executionId: expect.stringMatching(/^exec_/) });
  });
});

describe('a report', () => {
  const report = { outcome: 'success', output: { sent: 3 }, durationMs: 40 };

  test('is told once by the agent that did the work, and kept apart', async () => {
    const { agent, id } = await licensed();
    const reply = (await agent.client.post(`/api/v1/executions/${id}/report`, report)).expect(200);
    expect(reply.at('execution')).toMatchObject({ status: 'executed', report: { ...report } });
    expect((reply.at('execution') as SeenExecution).output).toBeUndefined();
    (await agent.client.post(`/api/v1/executions/${id}/report`, { outcome: 'failure' })).expect(409, 'CONFLICT');
    expect(await executionOf(server, id)).toMatchObject({ report: { outcome: 'success' } });
    expect((await auditOf(server, agent.id)).at(-1)).toMatchObject({
      event: 'execution.reported', actorId: agent.id, capability: 'web.search', metadata: { executionId: id, ...report },
    });
  });

  test('of a failure, with snake_case members', async () => {
    const { agent, id } = await licensed();
    const body = { outcome: 'failure', error: { code: 'X', message: 'm' }, duration_ms: 7 };
    const reply = (await agent.client.post(`/api/v1/executions/${id}/report`, body)).expect(200);
    expect(reply.at('execution.report')).toMatchObject({ outcome: 'failure', error: { code: 'X' }, durationMs: 7 });
  });

  test('comes within 24 hours or not at all', async () => {
    const [early, late] = [await licensed(), await licensed()];
    await server.sql(`update executions set closed_at = clock_timestamp() - interval '23 hours 59 minutes' where id = $1`,
      [early.id]);
    await server.sql(`update executions set closed_at = clock_timestamp() - interval '24 hours 1 minute' where id = $1`,
      [late.id]);
    (await early.agent.client.post(`/api/v1/executions/${early.id}/report`, report)).expect(200);
    (await late.agent.client.post(`/api/v1/executions/${late.id}/report`, report)).expect(409, 'CONFLICT');
    expect(await eventsOf(server, late.agent.id)).not.toContain('execution.reported');
  });

  test('only of what the agent does itself, and was allowed to do', async () => {
    const pending = await waiting();
    (await pending.agent.client.post(`/api/v1/executions/${pending.id}/report`, report)).expect(409, 'CONFLICT');
    const agent = await anAgent(server).granted('crm.push').create();
    const id = (await agent.client.post(EXECUTE, { capability: 'crm.push' })).text('executionId');
    (await agent.client.post(`/api/v1/executions/${id}/report`, report)).expect(409, 'CONFLICT');
  });

  test("another agent's execution is not there", async () => {
    const [{ id }, stranger] = [await licensed(), await licensed()];
    (await stranger.agent.client.post(`/api/v1/executions/${id}/report`, report)).expect(404, 'NOT_FOUND');
    (await stranger.agent.client.post(`/api/v1/executions/${stranger.id}/report`, { outcome: 'maybe' })).expect(400);
  });

  test('of parallel ones exactly one counts', async () => {
    const { agent, id } = await licensed();
    const replies = await Promise.all(Array.from({ length: 8 }, () =>
      agent.client.post(`/api/v1/executions/${id}/report`, report)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 409)]);
    expect((await eventsOf(server, agent.id)).filter((event) => event === 'execution.reported')).toHaveLength(1);
  });
});

describe('settling', () => {
  const found = { outcome: 'success', note: 'the mail is in the log of the mail server' };

  test('says what a person found out; the closing entry stays', async () => {
    const { agent, id } = await indeterminate();
    const closing = (await auditOf(server, agent.id)).at(-1)!;
    const reply = (await root.post(`/api/v1/executions/${id}/settle`, found)).expect(200);
    expect(reply.at('execution')).toMatchObject({ status: 'indeterminate', auditId: closing.id,
      settlement: { ...found, by: 'root' } });
    const entries = await auditOf(server, agent.id);
    expect(entries.at(-1)).toMatchObject({ event: 'execution.settled', actorId: 'root',
      metadata: { executionId: id, ...found } });
    expect(entries.at(-2)).toEqual(closing);
    (await root.post(`/api/v1/executions/${id}/settle`, found)).expect(409, 'CONFLICT');
  });

  test('only what is indeterminate, by an administrator, with a note', async () => {
    const [{ agent, id }, open] = [await licensed(), await indeterminate()];
    (await root.post(`/api/v1/executions/${id}/settle`, found)).expect(409, 'CONFLICT');
    (await open.agent.client.post(`/api/v1/executions/${open.id}/settle`, found)).expect(403, 'FORBIDDEN');
    (await root.post(`/api/v1/executions/${open.id}/settle`, { outcome: 'success' })).expect(400, 'VALIDATION_FAILED');
    expect(await eventsOf(server, agent.id)).not.toContain('execution.settled');
  });
});

describe('cancelling', () => {
  test('one that waits is cancelling its request', async () => {
    const { agent, id, request } = await waiting();
    const reply = (await agent.client.post(`/api/v1/executions/${id}/cancel`)).expect(200);
    expect(reply.at('execution')).toMatchObject({ id, status: 'cancelled', reason: 'cancelled' });
    expect((await root.get(`/api/v1/hitl/${request}`)).body).toMatchObject({ status: 'cancelled', decided_by: agent.id });
    (await agent.client.post(`/api/v1/executions/${id}/cancel`)).expect(409, 'HITL_ALREADY_DECIDED');
    (await root.post(`/api/v1/hitl/${request}/approve`)).expect(409, 'HITL_ALREADY_DECIDED');
  });

  test('repeated under its key gives the first answer, and says so', async () => {
    const { agent, id } = await waiting();
    const client = agent.client.with({ 'idempotency-key': 'cancel-1' });
    const first = (await client.post(`/api/v1/executions/${id}/cancel`)).expect(200);
    const again = (await client.post(`/api/v1/executions/${id}/cancel`)).expect(200);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  test('what has run, or is not one\'s own, cannot be', async () => {
    const [{ agent, id }, { id: foreign }] = [await licensed(), await waiting()];
    (await agent.client.post(`/api/v1/executions/${id}/cancel`)).expect(409, 'CONFLICT');
    (await agent.client.post(`/api/v1/executions/${foreign}/cancel`)).expect(404, 'NOT_FOUND');
  });
});

async function openRequestOf(agentId: string): Promise<string> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const reply = await root.get('/api/v1/hitl', { query: { agentId, status: 'pending' } });
    const [request] = reply.list('requests') as { id: string }[];
    if (request) return request.id;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('no request was made');
}
