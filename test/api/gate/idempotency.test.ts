import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { auditOf, eventsOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { defineCapability, executionOf, requestOf } from '../../support/builders/gate.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { keepEvents, keptEvents } from '../../support/notifications/kept-events.js';
import { EXECUTE } from '../../support/http/paths.js';

let server: TestServer;
let replica: TestServer;
let root: Client;
let receiver: Receiver;

beforeAll(async () => {
  [server, receiver] = await Promise.all([startServer(), startReceiver()]);
  replica = await startServer({ replicaOf: server });
  await keepEvents(server);
  root = asRoot(server);
  await defineCapability(server, 'crm.push', { connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}' } });
});

afterAll(async () => {
  await replica.stop();
  await server.stop();
  await receiver.close();
});

const keyed = (client: Client, key: string): Client => client.with({ 'idempotency-key': key });
const replayed = (reply: Reply): boolean => reply.headers.get('idempotent-replayed') === 'true';

async function executionsOf(agent: BuiltAgent): Promise<number> {
  return (await root.get('/api/v1/executions', { query: { agentId: agent.id } })).number('total');
}

describe('an execution under a key', () => {
  test('runs once; the retry gets the first answer, on either path and any replica', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    const body = { capability: 'web.search', input: { q: 1 } };
    const first = (await keyed(agent.client, 'k1').post(EXECUTE, body)).expect(200);
    expect(replayed(first)).toBe(false);
    const elsewhere = keyed(agent.client, 'k1');
    for (const again of [await elsewhere.post(EXECUTE, body), await elsewhere.post('/api/v1/executions', body)]) {
      expect(again.expect(200).body).toEqual(first.body);
      expect(replayed(again)).toBe(true);
    }
    const other = await fetch(new URL(EXECUTE, replica.url), {
      method: 'POST', body: JSON.stringify(body),
      headers: { authorization: `Bearer ${agent.token}`, 'content-type': 'application/json', 'idempotency-key': 'k1' },
    });
    expect([other.status, other.headers.get('idempotent-replayed'), await other.json()]).toEqual([200, 'true', first.body]);
    expect(await executionsOf(agent)).toBe(1);
  });

  test("of the root key's is found again, whichever agent it was for", async () => {
    const agent = await anAgent(server).granted('web.search').create();
    const body = { capability: 'web.search', agentId: agent.id };
    const first = (await keyed(root, 'of-root').post(EXECUTE, body)).expect(200);
    const again = (await keyed(root, 'of-root').post(EXECUTE, body)).expect(200);
    expect([again.body, replayed(again)]).toEqual([first.body, true]);
    expect(await executionsOf(agent)).toBe(1);
  });

  test('32 parallel calls, over two replicas and both paths, are one execution', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    const body = { capability: 'web.search', input: { q: 'same' } };
    const [here, there] = [server, replica].map((one) => keyedAt(one, agent, 'burst'));
    const replies = await Promise.all(
      Array.from({ length: 32 }, (_, i) => (i % 2 === 0 ? here! : there!)(i % 4 < 2 ? EXECUTE : '/api/v1/executions', body)),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(replies.map((reply) => reply.text('executionId'))).size).toBe(1);
    expect(replies.filter((reply) => !replayed(reply))).toHaveLength(1);
    expect(await executionsOf(agent)).toBe(1);
    expect((await eventsOf(server, agent.id)).filter((event) => event === 'execution.started')).toHaveLength(1);
  });

  test('32 parallel calls of a connector reach its receiver once; those beside a running one are told to wait', async () => {
    receiver.standing({ delayMs: 700, body: { done: true } });
    const before = receiver.requests.length;
    const agent = await anAgent(server).granted('crm.push').create();
    const body = { capability: 'crm.push', input: { n: 1 } };
    const call = () => keyed(agent.client, 'one').post(EXECUTE, body);
    // A busy machine may not get to all of them in time; whoever is told to come again does.
    const answered = async (): Promise<Reply> => {
      for (let reply = await call(); ; reply = await call()) if (reply.status !== 503) return reply;
    };
    const replies = await Promise.all(Array.from({ length: 32 }, answered));
    const done = replies.filter(({ status }) => status === 200);
    const refused = replies.filter(({ status }) => status === 409);
    expect([done.length >= 1, done.length + refused.length]).toEqual([true, 32]);
    for (const reply of refused) {
      reply.expect(409, 'IDEMPOTENCY_IN_FLIGHT');
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    const after = (await keyed(agent.client, 'one').post(EXECUTE, body)).expect(200);
    expect([replayed(after), after.body]).toEqual([true, done.find((reply) => !replayed(reply))!.body]);
    expect(receiver.requests.length - before).toBe(1);
    expect(await executionsOf(agent)).toBe(1);
  });

  test('another body under the same key is refused, and runs nothing', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    (await keyed(agent.client, 'k').post(EXECUTE, { capability: 'web.search', input: { q: 1 } })).expect(200);
    const other = await keyed(agent.client, 'k').post(EXECUTE, { capability: 'web.search', input: { q: 2 } });
    other.expect(422, 'IDEMPOTENCY_KEY_REUSED');
    expect(await executionsOf(agent)).toBe(1);
  });

  test('the order of members is not another body', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    const first = await keyed(agent.client, 'k')
      .post(EXECUTE, undefined, { raw: '{"capability":"web.search","input":{"a":1,"b":2}}' });
    const again = await keyed(agent.client, 'k')
      .post(EXECUTE, undefined, { raw: '{ "input": {"b":2,"a":1}, "capability":"web.search" }' });
    expect(again.expect(200).body).toEqual(first.body);
  });

  test('keys belong to their principal', async () => {
    const [one, other] = [await anAgent(server).granted('web.search').create(), await anAgent(server).granted('web.search')
      .create()];
    const ids = [];
    for (const client of [one.client, other.client, root]) {
      const reply = await keyed(client, 'shared')
        .post(EXECUTE, { capability: 'web.search', ...(client === root ? { agentId: one.id } : {}) });
      ids.push(reply.expect(200).text('executionId'));
    }
    expect(new Set(ids).size).toBe(3);
  });

  test('the replay of a pending call follows it: 202, then what came of it', async () => {
    const agent = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).create();
    const ask = () => keyed(agent.client, 'mail').post(EXECUTE, { capability: 'email.send', input: { to: 'a@example.org' } });
    const first = (await ask()).expect(202);
    const again = (await ask()).expect(202);
    expect([again.body, replayed(again)]).toEqual([first.body, true]);
    (await root.post(`/api/v1/hitl/${first.text('hitlRequestId')}/approve`, { comment: 'go' })).expect(200);
    const after = (await ask()).expect(200);
    expect(replayed(after)).toBe(true);
    expect(after.body).toMatchObject({ status: 'executed', executionId: first.text('executionId'), auditId: expect.any(String),
      comment: 'go' });
    expect((await root.get('/api/v1/hitl', { query: { agentId: agent.id } })).at('total')).toBe(1);
  });

  test('the replay of a rejected call is a cancelled one', async () => {
    const agent = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).create();
    const ask = () => keyed(agent.client, 'mail').post(EXECUTE, { capability: 'email.send' });
    const first = await ask();
    (await root.post(`/api/v1/hitl/${first.text('hitlRequestId')}/reject`, { note: 'no' })).expect(200);
    expect((await ask()).expect(200).body).toMatchObject({ status: 'cancelled', reason: 'rejected', comment: 'no' });
  });

  test('a blocked and a failed call are replayed as they were', async () => {
    const agent = await anAgent(server).granted('file.read', { hitlMode: 'block' }).granted('crm.push').create();
    receiver.script({ status: 500 });
    for (const capability of ['file.read', 'crm.push']) {
      const first = await keyed(agent.client, capability).post(EXECUTE, { capability });
      const again = (await keyed(agent.client, capability).post(EXECUTE, { capability })).expect(200);
      expect([replayed(again), again.body]).toEqual([true, first.body]);
    }
    expect(await executionsOf(agent)).toBe(2);
  });

  test.each([
    ['one that people are told of', 'notify', {}, 'executed', 'execution.notified'],
    ['one that nobody knows the end of', 'auto', { reset: true }, 'failed', 'execution.indeterminate'],
  ] as const)('%s is answered under a key as without, and people are told once', async (_name, hitlMode, answer, status, event) => {
    const agent = await anAgent(server).granted('crm.push', { hitlMode }).create();
    receiver.script(answer);
    const ask = () => keyed(agent.client, 'told').post(EXECUTE, { capability: 'crm.push' });
    const first = (await ask()).expect(200);
    expect(first.body).toMatchObject({ status });
    expect((await ask()).expect(200).body).toEqual(first.body);
    expect(await keptEvents(server, first.text('executionId'))).toMatchObject([{ event }]);
  });

  test('a repeated call waits for the decision as the first one does', async () => {
    const agent = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).create();
    const client = keyed(agent.client, 'patient');
    const first = (await client.post(EXECUTE, { capability: 'email.send' })).expect(202);
    const again = client.post(EXECUTE, { capability: 'email.send' }, { query: { wait: 20 } });
    (await asRoot(server).post(`/api/v1/hitl/${first.text('hitlRequestId')}/approve`)).expect(200);
    const answered = (await again).expect(200);
    expect(answered.body).toMatchObject({ status: 'executed', executionId: first.text('executionId') });
    expect(answered.headers.get('idempotent-replayed')).toBe('true');
  });

  test('a refusal without effect keeps no record: the key is free', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    const client = keyed(agent.client, 'again');
    (await client.post(EXECUTE, { capability: 'email.send' })).expect(403);
    (await client.post(EXECUTE, { capability: 'web.search', input: 7 })).expect(400);
    (await client.post(EXECUTE, { capability: 'web.search' })).expect(200);
  });

  test('authority is checked again before a replay', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    const ask = () => keyed(agent.client, 'k').post(EXECUTE, { capability: 'web.search' });
    (await ask()).expect(200);
    (await root.post(`/api/v1/agents/${agent.id}/deactivate`)).expect(200);
    (await ask()).expect(403, 'AGENT_INACTIVE');
    (await root.post(`/api/v1/agents/${agent.id}/activate`)).expect(200);
    (await ask()).expect(401, 'UNAUTHENTICATED');
  });

  test('a key that is no key is an error', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    for (const key of ['x'.repeat(256), 'with blank']) {
      (await keyed(agent.client, key).post(EXECUTE, { capability: 'web.search' })).expect(400, 'VALIDATION_FAILED');
    }
  });

  test('neither key nor body can be read from the table', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    await keyed(agent.client, 'telling-key').post(EXECUTE, { capability: 'web.search', input: { q: 'telling-body' } });
    const rows = await server.sql<{ row: string }>('select row_to_json(k)::text as row from idempotency_keys k');
    expect(rows.filter(({ row }) => row.includes('telling'))).toEqual([]);
  });
});

describe('decisions and requests under a key', () => {
  async function asked(): Promise<{ agent: BuiltAgent; id: string }> {
    const agent = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).create();
    return { agent, id: (await agent.client.post(EXECUTE, { capability: 'email.send' })).text('hitlRequestId') };
  }

  test.each(['approve', 'reject', 'cancel', 'timeout'])('a repeated %s gives the first answer', async (decision) => {
    const { agent, id } = await asked();
    const client = keyed(root, `decide-${id}`);
    const body = decision === 'timeout' ? undefined : { note: 'once' };
    const first = (await client.post(`/api/v1/hitl/${id}/${decision}`, body)).expect(200);
    const again = (await client.post(`/api/v1/hitl/${id}/${decision}`, body)).expect(200);
    expect([replayed(first), replayed(again)]).toEqual([false, true]);
    expect(again.body).toEqual(first.body);
    expect((await eventsOf(server, agent.id)).filter((event) => /^hitl\.(approved|rejected|cancelled|timed_out)$/.test(event)))
      .toHaveLength(1);
    if (body) (await client.post(`/api/v1/hitl/${id}/${decision}`, { note: 'other' })).expect(422, 'IDEMPOTENCY_KEY_REUSED');
  });

  test('an approval that could not be executed is replayed as that, not as an approval', async () => {
    const { agent, id } = await asked();
    (await root.post(`/api/v1/agents/${agent.id}/deactivate`)).expect(200);
    const client = keyed(root, `decide-${id}`);
    (await client.post(`/api/v1/hitl/${id}/approve`)).expect(409, 'NOT_EXECUTABLE');
    expect((await client.post(`/api/v1/hitl/${id}/approve`)).status).toBe(409);
    expect(await requestOf(server, id)).toMatchObject({ status: 'cancelled' });
  });

  test('16 parallel approvals under one key run it once', async () => {
    const capability = 'crm.push';
    const before = receiver.requests.length;
    const agent = await anAgent(server).granted(capability, { hitlMode: 'propose' }).create();
    const id = (await agent.client.post(EXECUTE, { capability })).text('hitlRequestId');
    const client = keyed(root, `burst-${id}`);
    const replies = await Promise.all(Array.from({ length: 16 }, () =>
      client.post(`/api/v1/hitl/${id}/approve`, {}, { query: { wait: 5 } })));
    for (const reply of replies) {
      if (reply.status !== 200) reply.expect(409, 'IDEMPOTENCY_IN_FLIGHT');
      else expect(reply.at('request.status')).toBe('approved');
    }
    expect(replies.filter((reply) => reply.status === 200 && !replayed(reply))).toHaveLength(1);
    await requestOf(server, id, 5);
    expect(receiver.requests.length - before).toBe(1);
  });

  test('a repeated POST /hitl makes one request', async () => {
    const agent = await anAgent(server).granted('email.send').create();
    const ask = () => keyed(agent.client, 'adapter').post('/api/v1/hitl', { capability: 'email.send', payload: { to: 'x' } });
    const replies = await Promise.all([ask(), ask(), ask(), ask()]);
    expect(new Set(replies.map((reply) => reply.expect(201).text('request.id'))).size).toBe(1);
    expect((await root.get('/api/v1/hitl', { query: { agentId: agent.id } })).at('total')).toBe(1);
    expect(await executionOf(server,
      String((await server.sql<{ id: string }>('select execution_id as id from hitl_requests where agent_id = $1',
      [agent.id]))[0]!.id))).toMatchObject({ status: 'pending_hitl' });
    expect((await auditOf(server, agent.id)).filter(({ event }) => event === 'hitl.created')).toHaveLength(1);
  });
});

function keyedAt(on: TestServer, agent: BuiltAgent, key: string): (path: string, body: unknown) => Promise<Reply> {
  const there = on === server ? agent.client : replicaClient(agent);
  return (path, body) => keyed(there, key).post(path, body);
}

function replicaClient(agent: BuiltAgent): Client {
  return asRoot(replica).with({ authorization: `Bearer ${agent.token}` });
}
