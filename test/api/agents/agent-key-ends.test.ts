import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { as, asAgent, asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { anAgent, anAgentKey, type BuiltAgent } from '../../support/builders/agents.js';
import { auditOf } from '../../support/log/entries.js';
import { eventually } from '../../support/running/eventually.js';
import { anOrganization } from '../../support/builders/people.js';
import { pause } from '../../support/proofs/races.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

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

interface Held {
  readonly agent: BuiltAgent;
  readonly keyId: string;
  /** By the key and by a token of the key, on both servers. */
  readonly byKey: readonly Client[];
  readonly byToken: readonly Client[];
}

/** A key that both servers have seen to be good, a token of the key, and facts that both servers keep. */
async function held(more: { readonly expiresAt?: string } = {}): Promise<Held> {
  const agent = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
  const key = await anAgentKey(server, agent, more);
  const token = (await key.client.post(EXCHANGE)).expect(200).text('token');
  const byKey = [server, replica].map((at) => as(at, key.secret));
  const byToken = [server, replica].map((at) => asAgent(at, token));
  for (const client of [...byKey, ...byToken]) {
    (await execute(client)).expect(200);
    (await client.get('/api/v1/agents')).expect(200);
  }
  return { agent, keyId: key.id, byKey, byToken };
}

const execute = (client: Client): Promise<Reply> => client.post('/api/v1/execute', { capability: 'web.search' });

/** Every way in: the gate's two routes, a dry run, one that only reads, one that writes. */
const calls = (client: Client, { id }: BuiltAgent): Promise<Reply>[] => [
  execute(client), client.post('/api/v1/execute', { capability: 'web.search', dryRun: true }),
  client.post('/api/v1/hitl', { capability: 'email.send' }), client.get('/api/v1/agents'), client.get(`/api/v1/agents/${id}/keys`),
  client.post('/api/v1/execute', { nothing: 'good' }), client.post(EXCHANGE), client.post(`/api/v1/agents/${id}/token/refresh`),
];

const begun = async ({ id }: BuiltAgent) => (await auditOf(server, id)).filter(({ event }) => event === 'execution.started').length;

async function expectDead({ agent, byKey, byToken }: Held): Promise<void> {
  const before = await begun(agent);
  for (const client of [...byKey, ...byToken]) {
    for (const answer of await Promise.all(calls(client, agent))) answer.expect(401, 'UNAUTHENTICATED');
  }
  expect(await begun(agent)).toBe(before);
}

test('deleted, it and its tokens are dead on every server; the agent\'s other credentials are not', async () => {
  const one = await held();
  const other = await anAgentKey(server, one.agent);
  const path = `/api/v1/agents/${one.agent.id}/keys/${one.keyId}`;
  (await root.delete(path)).expect(204);
  await expectDead(one);
  for (const client of [other.client, one.agent.client]) (await execute(client)).expect(200);
  (await root.delete(path)).expect(404, 'NOT_FOUND');
  expect((await root.get(`/api/v1/agents/${one.agent.id}/keys`)).at('keys')).toMatchObject([{ id: other.id }]);
  expect((await auditOf(server, one.agent.id)).find(({ event }) => event === 'agent.key_deleted'))
    .toMatchObject({ actorId: 'root', metadata: { keyId: one.keyId } });
});

test('one that was found dead is not remembered: made anew, it is whose it is by then', async () => {
  const [former, heir] = [await held(), await anAgent(server).granted('web.search').create()];
  const [first] = former.byKey;
  const [{ secret_hash: hash }] = await server.sql<{ secret_hash: string }>(
    'select secret_hash from agent_keys where id = $1', [former.keyId]) as [{ secret_hash: string }];
  (await root.delete(`/api/v1/agents/${former.agent.id}/keys/${former.keyId}`)).expect(204);
  (await execute(first!)).expect(401, 'UNAUTHENTICATED');
  // Past the API: no two keys that the service makes are the same.
  await server.sql(
    `insert into agent_keys (organization_id, id, agent_id, name, secret_hash, epoch, created_by, created_at)
     select organization_id, $1, id, 'heir', $2, epoch, 'root', clock_timestamp() from agents where id = $3`,
    [`${former.keyId.slice(0, -1)}${former.keyId.endsWith('0') ? '1' : '0'}`, hash, heir.id]);
  (await execute(first!)).expect(200);
  expect((await first!.get('/api/v1/agents')).expect(200).at('agents')).toMatchObject([{ id: heir.id }]);
});

test('what it asked for stays open, and runs once a person approves it', async () => {
  const { agent, keyId, byKey } = await held();
  const asked = (await byKey[0]!.post('/api/v1/execute', { capability: 'email.send' })).expect(202);
  (await root.delete(`/api/v1/agents/${agent.id}/keys/${keyId}`)).expect(204);
  const approved = (await root.post(`/api/v1/hitl/${asked.text('hitlRequestId')}/approve`)).expect(200);
  expect(approved.at('request')).toMatchObject({ status: 'approved', execution: { status: 'executed' } });
});

test('a key is found under its own agent alone', async () => {
  const [one, stranger] = [await held(), await anAgent(server).create()];
  (await root.delete(`/api/v1/agents/${stranger.id}/keys/${one.keyId}`)).expect(404, 'NOT_FOUND');
  (await execute(one.byKey[0]!)).expect(200);
});

test('when it expires', async () => {
  const one = await held({ expiresAt: new Date(Date.now() + 4_000).toISOString() });
  await eventually(async () => {
    for (const client of [...one.byKey, ...one.byToken]) (await execute(client)).expect(401, 'UNAUTHENTICATED');
  }, { every: 250 });
  await expectDead(one);
  expect((await root.get(`/api/v1/agents/${one.agent.id}/keys`)).at('keys')).toMatchObject([{ id: one.keyId }]);
});

test.each<[string, (agent: BuiltAgent, held: Held) => Promise<unknown>]>([
  ['the tokens of the agent were ended', async ({ id }) => (await root.delete(`/api/v1/agents/${id}/tokens`)).expect(204)],
  ['the agent was out of service in between', async ({ id }) => {
    (await root.post(`/api/v1/agents/${id}/deactivate`)).expect(200);
    (await root.post(`/api/v1/agents/${id}/activate`)).expect(200);
  }],
  ['the agent went to another organization', async ({ id }) =>
    (await root.post(`/api/v1/agents/${id}/transfer`, { organizationId: await anOrganization(server) })).expect(200)],
  ['the agent was removed', async ({ id }) => (await root.delete(`/api/v1/agents/${id}`)).expect(204)],
  ['somebody deleted its row by hand', async ({ id }, { byKey, byToken }) => {
    await server.sql('delete from agent_keys where agent_id = $1', [id]);
    // Nobody raised a revision, so for some seconds the servers may decide from what they read a moment ago.
    await eventually(async () => {
      for (const client of [...byKey, ...byToken]) (await execute(client)).expect(401, 'UNAUTHENTICATED');
    }, { every: 250 });
  }],
])('when %s', async (_, end) => {
  const one = await held();
  await end(one.agent, one);
  await expectDead(one);
});

test('a key of an epoch that is over is listed no more, and cannot be deleted', async () => {
  const { agent, keyId } = await held();
  (await root.delete(`/api/v1/agents/${agent.id}/tokens`)).expect(204);
  expect((await root.get(`/api/v1/agents/${agent.id}/keys`)).expect(200).body).toEqual({ keys: [], total: 0 });
  (await root.delete(`/api/v1/agents/${agent.id}/keys/${keyId}`)).expect(404, 'NOT_FOUND');
});

test('transferred, the agent has no key in its new organization, nor when it comes back', async () => {
  const one = await held();
  const [row] = await server.sql<{ home: string }>('select organization_id as home from agents where id = $1', [one.agent.id]);
  for (const organizationId of [await anOrganization(server), row!.home]) {
    (await root.post(`/api/v1/agents/${one.agent.id}/transfer`, { organizationId })).expect(200);
    expect(await server.sql('select id from agent_keys where agent_id = $1', [one.agent.id])).toEqual([]);
  }
  await expectDead(one);
});

test('403 while its agent is out of service', async () => {
  const one = await held();
  (await root.post(`/api/v1/agents/${one.agent.id}/deactivate`)).expect(200);
  for (const client of [...one.byKey, ...one.byToken]) {
    (await execute(client)).expect(403, 'AGENT_INACTIVE');
    (await client.get('/api/v1/agents')).expect(403, 'AGENT_INACTIVE');
  }
  (await one.byKey[0]!.post(EXCHANGE)).expect(403, 'AGENT_INACTIVE');
  // Its deletion tells more than that the agent is out of service.
  (await root.delete(`/api/v1/agents/${one.agent.id}/keys/${one.keyId}`)).expect(204);
  await expectDead(one);
});

test('403 while a stop holds its agent, and again afterwards nothing of it', async () => {
  const one = await held();
  const stop = (await root.post('/api/v1/stops', { scope: 'agent', id: one.agent.id, reason: 'held' })).expect(201).text('stop.id');
  for (const client of one.byKey) (await execute(client)).expect(403, 'STOPPED');
  (await root.delete(`/api/v1/stops/${stop}`)).expect(204);
  for (const client of one.byKey) (await execute(client)).expect(200);
});

describe('who waits by a key', () => {
  const ask = async (client: Client) =>
    (await client.post('/api/v1/execute', { capability: 'email.send' })).expect(202).text('hitlRequestId');

  test('is told, and hears nothing more once the key was deleted', async () => {
    const { agent, keyId, byKey } = await held();
    const [here, there] = byKey as [Client, Client];
    const waits = (id: string) => there.get(`/api/v1/hitl/${id}`, { query: { wait: 30 } });
    const first = await ask(here);
    const waiting = waits(first);
    await pause(500);
    (await root.post(`/api/v1/hitl/${first}/approve`)).expect(200);
    expect((await waiting).expect(200).at('status')).toBe('approved');
    const second = await ask(here);
    const waitingOn = waits(second);
    await pause(500);
    (await root.delete(`/api/v1/agents/${agent.id}/keys/${keyId}`)).expect(204);
    (await root.post(`/api/v1/hitl/${second}/approve`)).expect(200);
    (await waitingOn).expect(401, 'UNAUTHENTICATED');
  });
});

test('calls by keys that are not good count against their address, at the guard and at the gate, not against the agent', async () => {
  await replica.restart({ RATE_LIMIT_ANONYMOUS: '10', RATE_LIMIT_PRINCIPAL: '15', TRUSTED_PROXIES: '127.0.0.1' });
  const from = (address: string, credential: string) => as(replica, credential).with({ 'x-forwarded-for': address });
  const agent = await anAgent(replica).granted('web.search').create();
  const [gone, good] = [await anAgentKey(replica, agent), await anAgentKey(replica, agent)];
  (await execute(from('192.0.2.1', gone.secret))).expect(200);
  (await asRoot(replica).delete(`/api/v1/agents/${agent.id}/keys/${gone.id}`)).expect(204);
  for (const [address, secret] of [['192.0.2.2', gone.secret], ['192.0.2.3', `svc_agent_${'5'.repeat(64)}`]] as const) {
    for (let n = 0; n < 10; n++) (await execute(from(address, secret))).expect(401, 'UNAUTHENTICATED');
    (await execute(from(address, secret))).expect(429, 'RATE_LIMITED');
  }
  (await execute(from('192.0.2.2', good.secret))).expect(200);
  (await execute(from('192.0.2.2', agent.token))).expect(200);
  const failures = await replica.sql<{ payload: string }>(
    `select payload from audit_entries where event = 'auth.failed' and payload || disclosures like '%192.0.2.%'`);
  expect(failures.map(({ payload }) => (JSON.parse(payload) as { metadata: { reason: string } }).metadata.reason))
    .toContain('unknown_deleted_or_expired_agent_key');
  expect(JSON.stringify(failures)).not.toContain('5'.repeat(64));
});
