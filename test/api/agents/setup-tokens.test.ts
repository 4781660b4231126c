import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous, as, asAgent, asRoot, type Reply } from '../../support/http/actors.js';
import { claimsOf } from '../../support/builders/agent-token.js';
import { auditOf, eventsOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { anOrganization, aPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { storedState } from '../../support/log/stored-state.js';

const ACTIVATE = '/api/v1/node/activate';
const UNKNOWN = `svc_setup_${'0'.repeat(64)}`;

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const path = ({ id }: BuiltAgent) => `/api/v1/agents/${id}/setup-token`;
const issue = async (agent: BuiltAgent): Promise<string> => (await asRoot(server).post(path(agent))).expect(201).text('setupToken');
const activate = (token: string, nodeId = 'press-hall-2', at = server): Promise<Reply> =>
  anonymous(at).post(ACTIVATE, { token, nodeId });
const rowOf = async ({ id }: BuiltAgent) =>
  (await server.sql<Record<string, unknown>>('select * from setup_tokens where agent_id = $1', [id]))[0]!;

describe('issuing', () => {
  test('answers a token of its own form, good for 24 hours, of which the database keeps the SHA-256 alone', async () => {
    const agent = await anAgent(server).create();
    const before = Date.now();
    const issued = (await asRoot(server).post(path(agent))).expect(201);
    expect(Object.keys(issued.body as object).sort()).toEqual(['expiresAt', 'setupToken']);
    const token = issued.text('setupToken');
    expect(token).toMatch(/^svc_setup_[0-9a-f]{64}$/);
    expect(Math.abs(Date.parse(issued.text('expiresAt')) - before - 86_400_000)).toBeLessThan(60_000);
    const secret = token.slice('svc_setup_'.length);
    expect(JSON.stringify(await rowOf(agent))).not.toContain(secret);
    expect(await rowOf(agent)).toMatchObject({ issued_by: 'root', used_at: null, node_id: null });
    const entry = (await auditOf(server, agent.id)).at(-1)!;
    expect(entry).toMatchObject({
      event: 'agent.setup_token_issued', actorId: 'root',
      metadata: { setupTokenId: (await rowOf(agent)).id, expiresAt: issued.text('expiresAt') },
    });
    expect(JSON.stringify(entry)).not.toContain(secret);
  });

  test('not for an agent out of service, and not for one that is not there', async () => {
    const agent = await anAgent(server).create();
    (await asRoot(server).post(`/api/v1/agents/${agent.id}/deactivate`)).expect(200);
    (await asRoot(server).post(path(agent))).expect(403, 'AGENT_INACTIVE');
    (await asRoot(server).delete(`/api/v1/agents/${agent.id}`)).expect(204);
    (await asRoot(server).post(path(agent))).expect(404, 'NOT_FOUND');
  });

  test('by admins of its organization; an agent never, not even for itself', async () => {
    const agent = await anAgent(server).create();
    const [owner, admin, member, viewer, stranger] = await Promise.all([
      aPerson(server, 'owner'), aPerson(server, 'admin'), aPerson(server, 'member'), aPerson(server, 'viewer'),
      aPerson(server, 'owner', { organizationId: await anOrganization(server) }),
    ]);
    for (const person of [owner, admin]) {
      const token = (await person.client.post(path(agent))).expect(201).text('setupToken');
      expect(claimsOf((await activate(token)).expect(200).text('token')).vch).toBe(person.id);
    }
    for (const { client } of [member, viewer]) (await client.post(path(agent))).expect(403, 'FORBIDDEN');
    (await agent.client.post(path(agent))).expect(403, 'FORBIDDEN');
    (await anonymous(server).post(path(agent))).expect(401);
    (await stranger.client.post(path(agent))).expect(404, 'NOT_FOUND');
  });

  test('with an Idempotency-Key a second call makes no second token, and shows the first no more', async () => {
    const agent = await anAgent(server).create();
    const headers = { 'idempotency-key': 'one-node' };
    const first = (await asRoot(server).post(path(agent), undefined, { headers })).expect(201);
    const again = (await asRoot(server).post(path(agent), undefined, { headers })).expect(201);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual({ setupToken: null, expiresAt: first.text('expiresAt') });
    expect(await server.sql('select id from setup_tokens where agent_id = $1', [agent.id])).toHaveLength(1);
    (await activate(first.text('setupToken'))).expect(200);
  });
});

describe('activating', () => {
  test('exchanges it for a token of the agent that works; who issued it vouches, since then', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    const token = await issue(agent);
    await server.sql(`update setup_tokens set issued_at = issued_at - interval '1 hour' where agent_id = $1`, [agent.id]);
    const activated = (await activate(token)).expect(200);
    expect(activated.at('agent')).toMatchObject({ id: agent.id, capabilities: ['web.search'] });
    const claims = claimsOf(activated.text('token'));
    expect(Date.parse(activated.text('expiresAt'))).toBe(Number(claims.exp) * 1000);
    expect(claims).toMatchObject({ sub: agent.id, capabilities: ['web.search'], vch: 'root' });
    expect(claims.auth_time).toBe(Math.floor(new Date((await rowOf(agent)).issued_at as string).getTime() / 1000));
    const node = asAgent(server, activated.text('token'));
    (await node.post('/api/v1/execute', { capability: 'web.search' })).expect(200);
    const refreshed = (await node.post(`/api/v1/agents/${agent.id}/token/refresh`)).expect(200).text('token');
    expect(claimsOf(refreshed)).toMatchObject({ vch: 'root', auth_time: claims.auth_time });
    expect(await rowOf(agent)).toMatchObject({ node_id: 'press-hall-2', used_at: expect.any(Date) });
    const [noted, given] = (await auditOf(server, agent.id)).slice(4, 6);
    expect(noted).toMatchObject({
      event: 'agent.node_activated', actorId: agent.id, metadata: { nodeId: 'press-hall-2', setupTokenId: (await rowOf(agent)).id },
    });
    expect(given).toMatchObject({
      event: 'auth.agent_jwt_issued', actorId: agent.id, metadata: { occasion: 'activation', jti: claims.jti },
    });
  });

  test('the token carries what the agent holds then, not what it held when it was issued', async () => {
    const agent = await anAgent(server).create();
    const token = await issue(agent);
    (await asRoot(server).post('/api/v1/capabilities/grant', { agentId: agent.id, capability: 'file.read' })).expect(201);
    expect(claimsOf((await activate(token)).expect(200).text('token')).capabilities).toEqual(['file.read']);
  });

  test('once', async () => {
    const agent = await anAgent(server).create();
    const token = await issue(agent);
    const headers = { 'idempotency-key': 'a-key-without-a-caller' };
    (await anonymous(server).post(ACTIVATE, { token, nodeId: 'one' }, { headers })).expect(200);
    (await anonymous(server).post(ACTIVATE, { token, nodeId: 'one' }, { headers })).expect(401, 'UNAUTHENTICATED');
    (await activate(token, 'two')).expect(401, 'UNAUTHENTICATED');
    expect(await rowOf(agent)).toMatchObject({ node_id: 'one' });
    expect((await eventsOf(server, agent.id)).filter((event) => event === 'agent.node_activated')).toHaveLength(1);
  });

  test.each<[string, (agent: BuiltAgent) => Promise<unknown>]>([
    ['the tokens of the agent were ended', async ({ id }) => (await asRoot(server).delete(`/api/v1/agents/${id}/tokens`)).expect(204)],
    ['the agent was out of service in between', async ({ id }) => {
      (await asRoot(server).post(`/api/v1/agents/${id}/deactivate`)).expect(200);
      (await asRoot(server).post(`/api/v1/agents/${id}/activate`)).expect(200);
    }],
    ['the agent went to another organization', async ({ id }) => (await asRoot(server)
      .post(`/api/v1/agents/${id}/transfer`, { organizationId: await anOrganization(server) })).expect(200)],
    ['a day is over', ({ id }) => server.sql(`update setup_tokens set expires_at = clock_timestamp() where agent_id = $1`, [id])],
  ])('401 when %s', async (_, make) => {
    const agent = await anAgent(server).create();
    const token = await issue(agent);
    await make(agent);
    const before = await storedState(server);
    (await activate(token)).expect(401, 'UNAUTHENTICATED');
    expect(await storedState(server)).toEqual(before);
  });

  test('403 for an agent that is out of service; 401 once it is so for good, and the token is gone', async () => {
    const agent = await anAgent(server).create();
    const token = await issue(agent);
    (await asRoot(server).post(`/api/v1/agents/${agent.id}/deactivate`)).expect(200);
    (await activate(token)).expect(403, 'AGENT_INACTIVE');
    expect(await rowOf(agent)).toMatchObject({ used_at: null });
    (await asRoot(server).delete(`/api/v1/agents/${agent.id}`)).expect(204);
    (await activate(token)).expect(401, 'UNAUTHENTICATED');
    expect(await server.sql('select 1 from setup_tokens where agent_id = $1', [agent.id])).toEqual([]);
  });

  test.each([
    UNKNOWN, UNKNOWN.toUpperCase(), UNKNOWN.slice(0, -1), `${UNKNOWN}0`, `svc_user_${'a'.repeat(64)}`, 'nonsense', "' or 1=1 --",
  ])('401 for %.20s…, which nobody issued', async (token) => {
    (await activate(token)).expect(401, 'UNAUTHENTICATED');
  });

  test.each<[string, unknown]>([
    ['no token', { nodeId: 'n' }], ['no node', { token: UNKNOWN }], ['an empty node', { token: UNKNOWN, nodeId: ' ' }],
    ['a node of 201 characters', { token: UNKNOWN, nodeId: 'n'.repeat(201) }],
    ['a node of two lines', { token: UNKNOWN, nodeId: 'a\nb' }], ['a token that is no text', { token: 7, nodeId: 'n' }], ['a list', []],
  ])('400 for %s', async (_, body) => {
    (await anonymous(server).post(ACTIVATE, body)).expect(400, 'VALIDATION_FAILED');
  });

  test('snake_case is taken too, and 200 characters', async () => {
    const token = await issue(await anAgent(server).create());
    (await anonymous(server).post(ACTIVATE, { token, node_id: 'ü'.repeat(200) })).expect(200);
  });

  test('a failure is journaled like one at the guard: the first of a minute at once, without the token', async () => {
    const fresh = await startServer();
    try {
      const token = `svc_setup_${'5'.repeat(64)}`;
      for (let n = 0; n < 3; n++) (await activate(token, 'n', fresh)).expect(401);
      const failures = await fresh.sql<{ payload: string }>(`select payload from audit_entries where event = 'auth.failed'`);
      expect(failures).toHaveLength(1);
      expect(JSON.parse(failures[0]!.payload)).toMatchObject({
        actorId: 'anonymous', metadata: { count: 1, reason: 'unknown_setup_token', method: 'POST' },
      });
      expect(JSON.stringify(await fresh.sql('select * from audit_entries'))).not.toContain('5'.repeat(64));
      expect(fresh.output()).not.toContain('5'.repeat(64));
    } finally {
      await fresh.stop();
    }
  });
});

test('a setup token is no credential anywhere else', async () => {
  const agent = await anAgent(server).create();
  const token = await issue(agent);
  for (const client of [as(server, token), anonymous(server).with({ 'x-api-key': token })]) {
    (await client.get('/api/v1/agents')).expect(401, 'UNAUTHENTICATED');
    (await client.post('/api/v1/execute', { capability: 'web.search' })).expect(401, 'UNAUTHENTICATED');
    (await client.post(`/api/v1/agents/${agent.id}/token/refresh`)).expect(401, 'UNAUTHENTICATED');
  }
  (await activate(token)).expect(200);
});

test('forty activations at once, on two replicas, give one token', async () => {
  const replica = await startServer({ replicaOf: server });
  try {
    const agent = await anAgent(server).create();
    const token = await issue(agent);
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) =>
      activate(token, `node-${n}`, n % 2 === 0 ? server : replica)));
    const given = answers.filter(({ status }) => status === 200);
    expect(given).toHaveLength(1);
    // 503: no connection could be had in time, and nothing was done.
    expect(answers.filter(({ status }) => ![200, 401, 503].includes(status))).toEqual([]);
    const events = await eventsOf(server, agent.id);
    expect(events.filter((event) => event === 'agent.node_activated')).toHaveLength(1);
    expect(events.filter((event) => event === 'auth.agent_jwt_issued')).toHaveLength(2);
    (await activate(token)).expect(401, 'UNAUTHENTICATED');
    (await asAgent(replica, given[0]!.text('token')).get('/api/v1/agents')).expect(200);
  } finally {
    await replica.stop();
  }
});
