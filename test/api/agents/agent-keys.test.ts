import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { as, asAgent, asRoot, type Client } from '../../support/http/actors.js';
import { claimsOf } from '../../support/builders/agent-token.js';
import { anAgent, anAgentKey, type BuiltAgent } from '../../support/builders/agents.js';
import { asSession } from '../../support/builders/tenants.js';
import { auditOf } from '../../support/log/entries.js';
import { anOrganization, aPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { storedState } from '../../support/log/stored-state.js';

const FORM = /^svc_agent_[0-9a-f]{64}$/;
const EXCHANGE = '/api/v1/agents/token';

let server: TestServer;
let replica: TestServer;
let root: Client;

beforeAll(async () => {
  server = await startServer();
  replica = await startServer({ replicaOf: server });
  root = asRoot(server);
});

afterAll(async () => {
  await replica.stop();
  await server.stop();
});

const keysOf = ({ id }: Pick<BuiltAgent, 'id'>) => `/api/v1/agents/${id}/keys`;
const execute = (client: Client, capability = 'web.search') => client.post('/api/v1/execute', { capability });
const lists = async (client: Client, agent: BuiltAgent) =>
  ((await client.get(keysOf(agent))).expect(200).list('keys') as { id: string }[]).map(({ id }) => id);

describe('making keys', () => {
  test('an administrator makes one, and it is the agent on every server', async () => {
    const admin = await aPerson(server, 'admin');
    const agent = await anAgent(server).granted('web.search').create();
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const made = (await admin.client.post(keysOf(agent), { name: 'nightly', expiresAt })).expect(201);
    const key = { id: expect.stringMatching(/^key_/), name: 'nightly', createdAt: expect.any(String), createdBy: admin.id, expiresAt };
    expect(made.body).toEqual({ key, secret: expect.stringMatching(FORM) });
    for (const at of [server, replica]) {
      const client = as(at, made.text('secret'));
      expect((await client.get('/api/v1/agents')).expect(200).at('agents')).toMatchObject([{ id: agent.id }]);
      (await execute(client)).expect(200);
    }
    expect((await auditOf(server, agent.id)).find(({ event }) => event === 'agent.key_created')).toMatchObject({
      actorId: admin.id, metadata: { keyId: made.text('key.id'), name: 'nightly', expiresAt },
    });
  });

  test('owners and admins of its organization alone, and no agent for itself', async () => {
    const agent = await anAgent(server).create();
    const key = await anAgentKey(server, agent);
    for (const role of ['owner', 'admin'] as const) {
      (await (await aPerson(server, role)).client.post(keysOf(agent), { name: 'theirs' })).expect(201);
    }
    for (const role of ['member', 'viewer'] as const) {
      const { client } = await aPerson(server, role);
      (await client.post(keysOf(agent), { name: 'theirs' })).expect(403, 'FORBIDDEN');
      (await client.delete(`${keysOf(agent)}/${key.id}`)).expect(403, 'FORBIDDEN');
      expect(await lists(client, agent)).toContain(key.id);
    }
    for (const client of [agent.client, key.client]) {
      (await client.post(keysOf(agent), { name: 'mine' })).expect(403, 'FORBIDDEN');
      (await client.delete(`${keysOf(agent)}/${key.id}`)).expect(403, 'FORBIDDEN');
      expect(await lists(client, agent)).toContain(key.id);
    }
    const stranger = await aPerson(server, 'owner', { organizationId: await anOrganization(server) });
    (await stranger.client.post(keysOf(agent), { name: 'x' })).expect(404, 'NOT_FOUND');
    (await stranger.client.get(keysOf(agent))).expect(404, 'NOT_FOUND');
    (await stranger.client.delete(`${keysOf(agent)}/${key.id}`)).expect(404, 'NOT_FOUND');
    (await execute((await anAgent(server).create()).client)).expect(403);
  });

  test('by a session, within ten minutes of signing in', async () => {
    const admin = await aPerson(server, 'admin');
    const agent = await anAgent(server).create();
    (await (await asSession(server, admin, { age: 60 })).client.post(keysOf(agent), { name: 'fresh' })).expect(201);
    (await (await asSession(server, admin, { age: 700 })).client.post(keysOf(agent), { name: 'left open' })).expect(403, 'FORBIDDEN');
  });

  test.each<[string, unknown]>([
    ['no name', {}], ['an empty name', { name: ' ' }], ['a name of two lines', { name: 'a\nb' }],
    ['a long name', { name: 'n'.repeat(101) }],
    ['an end in the past', { name: 'x', expiresAt: '2020-01-01T00:00:00Z' }], ['an end that is no time', { name: 'x', expiresAt: 'soon' }],
  ])('400 for %s', async (_, body) => {
    (await root.post(keysOf(await anAgent(server).create()), body)).expect(400, 'VALIDATION_FAILED');
  });

  test('not for an agent out of service, and not for one that is not there', async () => {
    const agent = await anAgent(server).create();
    (await root.post(`/api/v1/agents/${agent.id}/deactivate`)).expect(200);
    (await root.post(keysOf(agent), { name: 'x' })).expect(403, 'AGENT_INACTIVE');
    (await root.delete(`/api/v1/agents/${agent.id}`)).expect(204);
    for (const answer of [await root.post(keysOf(agent), { name: 'x' }), await root.get(keysOf(agent))]) answer.expect(404, 'NOT_FOUND');
  });

  test('at most 50 live ones, on all servers together', async () => {
    const agent = await anAgent(server).create();
    const answers = (await Promise.all(Array.from({ length: 6 }, async (_, lane) => {
      const client = asRoot(lane % 2 === 0 ? server : replica);
      const made = [];
      for (let n = 0; n < 9; n++) made.push(await client.post(keysOf(agent), { name: `${lane}-${n}` }));
      return made;
    }))).flat();
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(50);
    for (const refused of answers.filter(({ status }) => status !== 201)) refused.expect(409, 'CONFLICT');
    const [first] = await lists(root, agent);
    (await root.delete(`${keysOf(agent)}/${first}`)).expect(204);
    (await root.post(keysOf(agent), { name: 'again' })).expect(201);
  });

  test('rows of keys that ended by themselves go when the next one is made', async () => {
    const agent = await anAgent(server).create();
    const [longAgo, lately] = [await anAgentKey(server, agent), await anAgentKey(server, agent)];
    await server.sql(`update agent_keys set expires_at = clock_timestamp() - interval '8 days' where id = $1`, [longAgo.id]);
    await server.sql(`update agent_keys set expires_at = clock_timestamp() - interval '6 days' where id = $1`, [lately.id]);
    const third = await anAgentKey(server, agent);
    expect(await lists(root, agent)).toEqual([third.id, lately.id]);
    (await root.delete(`/api/v1/agents/${agent.id}/tokens`)).expect(204);
    const fourth = await anAgentKey(server, agent);
    expect(await server.sql('select id from agent_keys where agent_id = $1', [agent.id])).toEqual([{ id: fourth.id }]);
  });
});

describe('a secret', () => {
  test('is nowhere else: in no replay, list, table, entry or log line; nor are the tokens that it was exchanged for', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    const keyed = root.with({ 'idempotency-key': 'one-key' });
    const first = (await keyed.post(keysOf(agent), { name: 'once' })).expect(201);
    const again = (await keyed.post(keysOf(agent), { name: 'once' })).expect(201);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual({ ...(first.body as object), secret: null });
    expect(await lists(root, agent)).toEqual([first.text('key.id')]);
    const list = (await root.get(keysOf(agent))).expect(200);
    expect(list.number('total')).toBe(1);
    expect(Object.keys(list.at('keys.0') as object).sort()).toEqual(['createdAt', 'createdBy', 'id', 'name']);
    const secret = first.text('secret').slice('svc_agent_'.length);
    const client = as(server, first.text('secret')).with({ 'idempotency-key': 'one-exchange' });
    const token = (await client.post(EXCHANGE)).expect(200).text('token');
    expect((await client.post(EXCHANGE)).expect(200).at('token')).toBeNull();
    (await execute(client)).expect(200);
    (await as(server, `${first.text('secret').slice(0, -1)}g`).get('/api/v1/agents')).expect(401);
    for (const text of [secret, token.split('.')[2]!]) {
      for (const table of Object.keys(await storedState(server))) {
        expect([table, await server.sql(`select 1 from "${table}" t where strpos(t::text, $1) > 0`, [text])]).toEqual([table, []]);
      }
      for (const at of [server, replica]) expect(at.output()).not.toContain(text);
    }
  });
});

describe('as Bearer', () => {
  test('it acts by the grants of that moment, whatever the agent held when it was made', async () => {
    const agent = await anAgent(server).create();
    const { client } = await anAgentKey(server, agent);
    (await execute(client, 'file.read')).expect(403, 'CAPABILITY_NOT_GRANTED');
    const granted = (await root.post('/api/v1/capabilities/grant', { agentId: agent.id, capability: 'file.read' })).expect(201);
    (await execute(client, 'file.read')).expect(200);
    // The token of before does not name it.
    (await execute(agent.client, 'file.read')).expect(403, 'CAPABILITY_NOT_IN_TOKEN');
    (await root.delete(`/api/v1/capabilities/grant/${granted.text('grant.id')}`)).expect(204);
    (await execute(client, 'file.read')).expect(403, 'CAPABILITY_NOT_GRANTED');
  });

  test('it acts for its agent alone, and an Idempotency-Key is the agent\'s, by token or key', async () => {
    const [agent, other] = [await anAgent(server).granted('web.search').create(), await anAgent(server).create()];
    const key = await anAgentKey(server, agent);
    (await key.client.post('/api/v1/execute', { capability: 'web.search', agentId: other.id })).expect(403, 'FORBIDDEN');
    (await key.client.get(`/api/v1/agents/${other.id}`)).expect(404, 'NOT_FOUND');
    const headers = { 'idempotency-key': 'the-same-call' };
    const first = (await execute(agent.client.with(headers))).expect(200);
    const again = (await execute(key.client.with(headers))).expect(200);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.at('executionId')).toBe(first.at('executionId'));
    (await key.client.with(headers).post('/api/v1/execute', { capability: 'web.search', input: { q: 1 } }))
      .expect(422, 'IDEMPOTENCY_KEY_REUSED');
  });

  test('a capability that is called like another one\'s kept facts is not taken for it', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    const key = await anAgentKey(server, agent);
    (await execute(key.client)).expect(200);
    for (const name of [`web.search/${key.id}`, `${key.id}/web.search`]) {
      (await execute(key.client, name)).expect(403, 'CAPABILITY_NOT_GRANTED');
      (await root.post('/api/v1/execute', { capability: name, agentId: agent.id })).expect(403, 'CAPABILITY_NOT_GRANTED');
    }
  });
});

describe('exchanging', () => {
  test('gives an ordinary token, for which the key\'s maker vouches from that moment', async () => {
    const admin = await aPerson(server, 'admin');
    const agent = await anAgent(server).granted('web.search').create();
    const made = (await admin.client.post(keysOf(agent), { name: 'nightly' })).expect(201);
    await server.sql(`update agent_keys set created_at = created_at - interval '90 days' where id = $1`, [made.text('key.id')]);
    const exchanged = (await as(server, made.text('secret')).post(EXCHANGE)).expect(200);
    expect(Object.keys(exchanged.body as object).sort()).toEqual(['expiresAt', 'token']);
    const claims = claimsOf(exchanged.text('token'));
    expect(claims).toMatchObject({ sub: agent.id, capabilities: ['web.search'], vch: admin.id, key_id: made.text('key.id') });
    expect(Number(claims.exp) - Number(claims.iat)).toBe(3_600);
    expect(Math.abs(Number(claims.auth_time) - Date.now() / 1_000)).toBeLessThan(60);
    expect(Date.parse(exchanged.text('expiresAt'))).toBe(Number(claims.exp) * 1_000);
    const client = asAgent(replica, exchanged.text('token'));
    (await execute(client)).expect(200);
    const refreshed = (await client.post(`/api/v1/agents/${agent.id}/token/refresh`)).expect(200).text('token');
    expect(claimsOf(refreshed)).toMatchObject({ auth_time: claims.auth_time, vch: admin.id, key_id: claims.key_id });
    expect((await auditOf(server, agent.id)).find(({ metadata }) => metadata.occasion === 'exchange')).toMatchObject({
      event: 'auth.agent_jwt_issued', actorId: agent.id, metadata: { jti: claims.jti, keyId: made.text('key.id') },
    });
    (await agent.client.post(`/api/v1/agents/${agent.id}/token/refresh`)).expect(200);
    const entries = await auditOf(server, agent.id);
    const renewed = entries.filter(({ event }) => event === 'agent.token_refreshed').map(({ metadata }) => metadata);
    expect(renewed).toMatchObject([{ jti: claimsOf(refreshed).jti, keyId: made.text('key.id') }, { epoch: 0 }]);
    expect(renewed[1]).not.toHaveProperty('keyId');
  });

  test('a token ends with its key at the latest, refreshed ones too', async () => {
    const agent = await anAgent(server).create();
    const end = new Date(Date.now() + 600_500);
    const key = await anAgentKey(server, agent, { expiresAt: end.toISOString() });
    const token = (await key.client.post(EXCHANGE)).expect(200).text('token');
    const refreshed = (await asAgent(server, token).post(`/api/v1/agents/${agent.id}/token/refresh`)).expect(200).text('token');
    for (const one of [token, refreshed]) expect(claimsOf(one).exp).toBe(Math.floor(end.getTime() / 1_000));
  });

  test('a token is refreshed and a key exchanged, not the other way about: each is told where to go', async () => {
    const agent = await anAgent(server).create();
    const key = await anAgentKey(server, agent);
    const refused = (await key.client.post(`/api/v1/agents/${agent.id}/token/refresh`)).expect(403, 'FORBIDDEN');
    expect(refused.text('detail')).toContain('POST /api/v1/agents/token');
    const token = (await key.client.post(EXCHANGE)).expect(200).text('token');
    for (const client of [agent.client, asAgent(server, token)]) {
      expect((await client.post(EXCHANGE)).expect(403, 'FORBIDDEN').text('detail')).toContain('/token/refresh');
    }
    for (const client of [root, (await aPerson(server, 'owner')).client]) (await client.post(EXCHANGE)).expect(403, 'FORBIDDEN');
  });
});

test('under strict separation of duties whoever made the key may not approve what comes by it', async () => {
  const organizationId = await anOrganization(server);
  const [maker, other] = [await aPerson(server, 'admin', { organizationId }), await aPerson(server, 'admin', { organizationId })];
  await server.sql(`update organizations set separation_of_duties = 'strict', revision = revision + 1 where id = $1`, [organizationId]);
  const agent = await anAgent(server).inOrganization(organizationId).granted('email.send', { hitlMode: 'propose' }).create();
  const secret = (await maker.client.post(keysOf(agent), { name: 'theirs' })).expect(201).text('secret');
  const token = (await as(server, secret).post(EXCHANGE)).expect(200).text('token');
  for (const client of [as(server, secret), asAgent(server, token)]) {
    const id = (await execute(client, 'email.send')).expect(202).text('hitlRequestId');
    (await maker.client.post(`/api/v1/hitl/${id}/approve`)).expect(403, 'SELF_APPROVAL');
    (await other.client.post(`/api/v1/hitl/${id}/approve`)).expect(200);
  }
});
