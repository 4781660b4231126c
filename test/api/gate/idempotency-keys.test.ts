import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { closeRawConnections, sendRaw } from '../../support/http/raw-http.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { ROOT_KEY } from '../../support/servers/test-run.js';

/** Another body is another call, also where the route takes no member of it. */
const LENIENT = { prefer: 'handling=lenient' };

let server: TestServer;
let root: Client;
let agent: BuiltAgent;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
  agent = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
});
afterAll(async () => {
  closeRawConnections();
  await server.stop();
});

const ask = async () => (await agent.client.post('/api/v1/execute', { capability: 'email.send', input: { to: 'a' } })).expect(202)
  .text('hitlRequestId');

describe('idempotency keys', () => {
  let made = 0;
  const key = () => ({ 'idempotency-key': `key-${++made}` });
  const replayed = (answer: Reply) => answer.headers.get('idempotent-replayed');
  const count = async (table: string) => Number((await server.sql<{ n: string }>(`select count(*) as n from ${table}`))[0]?.n);

  interface Creating {
    readonly what: string;
    readonly table: string;
    readonly call: (headers: Record<string, string>) => Promise<Reply>;
    readonly other: (headers: Record<string, string>) => Promise<Reply>;
    readonly secrets?: readonly string[];
  }

  const creating: Creating[] = [
    {
      what: 'POST /agents', table: 'agents', secrets: ['token'],
      call: (headers) => root.post('/api/v1/agents', { name: 'once', grants: [{ capability: 'web.search' }] }, { headers }),
      other: (headers) => root.post('/api/v1/agents', { name: 'twice' }, { headers }),
    },
    {
      what: 'POST /agents/:id/token', table: `audit_entries where event = 'auth.agent_jwt_issued'`, secrets: ['token'],
      call: (headers) => root.post(`/api/v1/agents/${agent.id}/token`, undefined, { headers }),
      other: (headers) => root.post(`/api/v1/agents/${agent.id}/token`, { something: 'else' }, { headers: { ...headers, ...LENIENT } }),
    },
    {
      what: 'POST /agents/:id/token/refresh', table: `audit_entries where event = 'agent.token_refreshed'`, secrets: ['token'],
      call: (headers) => agent.client.post(`/api/v1/agents/${agent.id}/token/refresh`, {}, { headers }),
      other: (headers) => agent.client.post(`/api/v1/agents/${agent.id}/token/refresh`, { capabilities: [] }, { headers }),
    },
    {
      what: 'POST /agents/:id/capabilities', table: `audit_entries where event = 'capability.granted'`,
      call: (headers) => root.post(`/api/v1/agents/${agent.id}/capabilities`, { capability: 'file.read' }, { headers }),
      other: (headers) => root.post(`/api/v1/agents/${agent.id}/capabilities`, { capability: 'file.write' }, { headers }),
    },
    {
      what: 'POST /capabilities/grant', table: `audit_entries where event = 'capability.granted'`,
      call: (headers) => root.post('/api/v1/capabilities/grant', { agentId: agent.id, capability: 'data.query' }, { headers }),
      other: (headers) => root.post('/api/v1/capabilities/grant', { agentId: agent.id, capability: 'data.write' }, { headers }),
    },
    {
      what: 'POST /capabilities', table: 'capability_definitions',
      call: (headers) => root.post('/api/v1/capabilities', { name: 'once.only', description: 'x' }, { headers }),
      other: (headers) => root.post('/api/v1/capabilities', { name: 'once.more', description: 'x' }, { headers }),
    },
    {
      what: 'POST /execute', table: 'executions',
      call: (headers) => agent.client.post('/api/v1/execute', { capability: 'web.search', input: { q: 1 } }, { headers }),
      other: (headers) => agent.client.post('/api/v1/execute', { capability: 'web.search', input: { q: 2 } }, { headers }),
    },
    {
      what: 'POST /execute that asks', table: 'hitl_requests',
      call: (headers) => agent.client.post('/api/v1/execute', { capability: 'email.send', input: { q: 1 } }, { headers }),
      other: (headers) => agent.client.post('/api/v1/execute', { capability: 'email.send' }, { headers }),
    },
    {
      what: 'POST /hitl', table: 'hitl_requests',
      call: (headers) => agent.client.post('/api/v1/hitl', { capability: 'email.send', payload: { q: 1 } }, { headers }),
      other: (headers) => agent.client.post('/api/v1/hitl', { capability: 'email.send', payload: { q: 2 } }, { headers }),
    },
  ];

  test.each(creating)('$what is done once; repeated, it answers the same, without secrets; for another call the key is taken',
    async (one) => {
    const headers = key();
    const before = await count(one.table);
    const first = await one.call(headers);
    expect([first.status < 300, replayed(first)]).toEqual([true, null]);
    expect(await count(one.table)).toBe(before + 1);
    for (let turn = 0; turn < 2; turn++) {
      const again = await one.call(headers);
      expect([again.status, replayed(again)]).toEqual([first.status, 'true']);
      const wanted = { ...(first.body as object), ...Object.fromEntries((one.secrets ?? []).map((secret) => [secret, null])) };
      expect(again.body).toEqual(wanted);
    }
    (await one.other(headers)).expect(422, 'IDEMPOTENCY_KEY_REUSED');
    expect(await count(one.table)).toBe(before + 1);
    const kept = await server.sql<{ body: string | null; scope: string }>('select body, scope from idempotency_keys');
    expect(JSON.stringify(kept)).not.toContain(headers['idempotency-key']);
    expect(JSON.stringify(kept)).not.toMatch(/eyJ[A-Za-z0-9_-]+\.eyJ/);
  });

  test('decisions too: repeated, the request as it stands; another one with the key is refused', async () => {
    for (const verb of ['approve', 'reject', 'cancel', 'timeout']) {
      const id = await ask();
      const headers = key();
      const first = (await root.post(`/api/v1/hitl/${id}/${verb}`, {}, { headers })).expect(200);
      const again = (await root.post(`/api/v1/hitl/${id}/${verb}`, {}, { headers })).expect(200);
      expect([verb, again.body, replayed(first), replayed(again)]).toEqual([verb, first.body, null, 'true']);
      const other = await root.post(`/api/v1/hitl/${id}/${verb}`, { note: 'other' }, { headers: { ...headers, ...LENIENT } });
      other.expect(422, 'IDEMPOTENCY_KEY_REUSED');
      (await root.post(`/api/v1/hitl/${id}/${verb}`, {}, { headers: key() })).expect(409, 'HITL_ALREADY_DECIDED');
    }
  });

  test('what is done to an execution: cancel and report', async () => {
    const asked = (await agent.client.post('/api/v1/execute', { capability: 'email.send' })).expect(202).text('executionId');
    const ran = (await agent.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200).text('executionId');
    for (const [path, body] of [[`executions/${asked}/cancel`, {}],
      [`executions/${ran}/report`, { outcome: 'success' }]] as const) {
      const headers = key();
      const first = (await agent.client.post(`/api/v1/${path}`, body, { headers })).expect(200);
      const again = (await agent.client.post(`/api/v1/${path}`, body, { headers })).expect(200);
      expect([path, again.body, replayed(again)]).toEqual([path, first.body, 'true']);
      (await agent.client.post(`/api/v1/${path}`, body, { headers: key() })).expect(409);
    }
  });

  test('two paths of one operation share their keys', async () => {
    const headers = key();
    const body = { capability: 'web.search', input: { q: 'alias' } };
    const first = (await agent.client.post('/api/v1/execute', body, { headers })).expect(200);
    const again = (await agent.client.post('/api/v1/executions', body, { headers })).expect(200);
    expect([again.text('executionId'), replayed(again)]).toEqual([first.text('executionId'), 'true']);
  });

  test('a key belongs to its caller, operation and path', async () => {
    const headers = key();
    const other = await anAgent(server).granted('web.search').create();
    const body = { capability: 'web.search' };
    const first = (await agent.client.post('/api/v1/execute', body, { headers })).expect(200);
    const theirs = (await other.client.post('/api/v1/execute', body, { headers })).expect(200);
    expect([theirs.text('executionId') === first.text('executionId'), replayed(theirs)]).toEqual([false, null]);
    for (const { id } of [agent, other]) {
      expect(replayed((await root.post(`/api/v1/agents/${id}/token`, undefined, { headers })).expect(200))).toBeNull();
    }
    expect(replayed((await root.post('/api/v1/agents', { name: 'same key' }, { headers })).expect(201))).toBeNull();
  });

  test('the order of members and white space are no difference; a value is', async () => {
    const headers = key();
    (await root.post('/api/v1/agents', undefined, { headers, raw: '{"name":"a","tags":["x","y"]}' })).expect(201);
    (await root.post('/api/v1/agents', undefined, { headers, raw: '{ "tags" : ["x", "y"], "name": "\\u0061" }' })).expect(201);
    (await root.post('/api/v1/agents', undefined, { headers, raw: '{"name":"a","tags":["y","x"]}' }))
      .expect(422, 'IDEMPOTENCY_KEY_REUSED');
  });

  test('a refusal keeps no record: the corrected call may use the key', async () => {
    const headers = key();
    (await root.post('/api/v1/agents', { name: '' }, { headers })).expect(400);
    (await root.post('/api/v1/agents', { name: 'x', grants: [{ capability: 'no.such' }] }, { headers })).expect(404);
    expect(replayed((await root.post('/api/v1/agents', { name: 'corrected' }, { headers })).expect(201))).toBeNull();
    const late = key();
    const newcomer = await anAgent(server).create();
    (await newcomer.client.post('/api/v1/execute', { capability: 'web.search' }, { headers: late })).expect(403);
    (await root.post(`/api/v1/agents/${newcomer.id}/capabilities`, { capability: 'web.search' })).expect(201);
    const token = (await root.post(`/api/v1/agents/${newcomer.id}/token`)).text('token');
    (await root.with({ authorization: `Bearer ${token}` }).post('/api/v1/execute', { capability: 'web.search' },
      { headers: late })).expect(200);
  });

  test('authority is checked again before a replay', async () => {
    const leaving = await anAgent(server).granted('web.search').create();
    const headers = key();
    (await leaving.client.post('/api/v1/execute', { capability: 'web.search' }, { headers })).expect(200);
    (await root.post(`/api/v1/agents/${leaving.id}/deactivate`)).expect(200);
    (await leaving.client.post('/api/v1/execute', { capability: 'web.search' }, { headers })).expect(403, 'AGENT_INACTIVE');
  });

  test('while the first call runs, its repetition is told to wait', async () => {
    const headers = key();
    const holder = new pg.Client({ connectionString: server.database.url });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('lock table agents in share row exclusive mode');
      const first = root.post('/api/v1/agents', { name: 'slow' }, { headers });
      await new Promise((resolve) => setTimeout(resolve, 300));
      const second = (await root.post('/api/v1/agents', { name: 'slow' }, { headers })).expect(409, 'IDEMPOTENCY_IN_FLIGHT');
      expect(Number(second.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      await holder.query('rollback');
      const done = (await first).expect(201);
      const third = (await root.post('/api/v1/agents', { name: 'slow' }, { headers })).expect(201);
      expect([third.text('agent.id'), replayed(third)]).toEqual([done.text('agent.id'), 'true']);
    } finally {
      await holder.end();
    }
  });

  test('of parallel calls with one key one is done, and the others are told so or told to wait', async () => {
    for (const [client, path, body] of [[root, '/api/v1/agents', { name: 'race' }],
      [agent.client, '/api/v1/execute', { capability: 'web.search' }]] as const) {
      const headers = key();
      const table = path.endsWith('agents') ? 'agents' : 'executions';
      const before = await count(table);
      const answers = await Promise.all(Array.from({ length: 10 }, () => client.post(path, body, { headers })));
      expect(answers.filter(({ status }) => ![200, 201, 409].includes(status)).map(({ body: reported }) => reported)).toEqual([]);
      expect(answers.filter((answer) => answer.status !== 409 && replayed(answer) === null)).toHaveLength(1);
      expect(await count(table)).toBe(before + 1);
    }
  });

  test.each(['', ' ', 'a b', 'é', 'x'.repeat(256), '"quoted key"\t'])('a key like %j is refused, or none', async (text) => {
    const raw = await sendRaw(server.url, {
      method: 'POST', target: '/api/v1/agents', body: '{"name":"keyed"}',
      headers: ['authorization', `Bearer ${ROOT_KEY}`, 'content-type', 'application/json', 'idempotency-key',
        Buffer.from(text).toString('latin1')],
    });
    expect([text, raw.status]).toEqual([text, 400]);
  });
});
