import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { auditOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { callLimit, COUNTED, statusOf, teamMates, wrongTotals } from '../../support/builders/counting-scenario.js';
import { type DatabaseProxy, proxyTo } from '../../support/servers/database-proxy.js';
import { defineCapability } from '../../support/builders/gate.js';
import { aTeam, firstOrganization } from '../../support/builders/people.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

// A call is decided on one server; before its commit arrives, another server takes away what the decision rested on.

let slow: TestServer;
let other: TestServer;
let root: Client;
let line: DatabaseProxy;
let receiver: Receiver;

beforeAll(async () => {
  [other, receiver] = await Promise.all([startServer(), startReceiver()]);
  line = await proxyTo(other.database.url);
  slow = await startServer({ replicaOf: other, env: { DATABASE_URL: line.url } });
  root = asRoot(other);
  await defineCapability(other, 'crm.push', { connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}' } });
});

afterAll(async () => {
  await slow.stop();
  await other.stop();
  await line.close();
  await receiver.close();
});

const agentPath = (agent: BuiltAgent) => `/api/v1/agents/${agent.id}`;
const grantPath = (agent: BuiltAgent) => `${agentPath(agent)}/capabilities/crm.push`;

async function revoke(agent: BuiltAgent): Promise<Reply> {
  const [grant] = (await root.get(`${agentPath(agent)}/capabilities`)).list('grants') as { id: string }[];
  return root.delete(`/api/v1/capabilities/grant/${grant!.id}`);
}

type Withdraw = (agent: BuiltAgent) => Promise<Reply>;
const deactivate: Withdraw = (agent) => root.post(`${agentPath(agent)}/deactivate`);
const remove: Withdraw = (agent) => root.delete(agentPath(agent));
const revokeTokens: Withdraw = (agent) => root.delete(`${agentPath(agent)}/tokens`);
const configure = (hitl_mode: string): Withdraw => (agent) => root.patch(grantPath(agent), { hitl_mode });
const redefine: Withdraw = () =>
  root.patch('/api/v1/capabilities/crm.push', { inputSchema: { type: 'object', required: ['more'] } });

test.each([
  ['the grant is revoked', revoke, 403, 'CAPABILITY_NOT_GRANTED'],
  ['the agent is deactivated', deactivate, 403, 'AGENT_INACTIVE'],
  ['the agent is removed', remove, 403, 'AGENT_INACTIVE'],
  ['every token is revoked', revokeTokens, 401, 'UNAUTHENTICATED'],
  ['the grant blocks now', configure('block'), 200, 'blocked'],
  ['the grant asks a person now', configure('propose'), 202, 'pending_hitl'],
  ['the input schema is another', redefine, 422, 'INVALID_INPUT'],
] as const)('%s between decision and commit: nothing begins', async (_name, withdraw, status, word) => {
  const agent = await anAgent(slow).granted('crm.push').create();
  const before = receiver.requests.length;
  const { held, release } = line.hold('gate-commit-');
  const call = agent.client.post<{ status: unknown; code?: unknown }>('/api/v1/execute',
    { capability: 'crm.push', input: { n: 1 } });
  await held;
  expect((await withdraw(agent).finally(release)).status).toBeLessThan(300);
  const reply = await call;
  expect([reply.status, reply.body.code ?? reply.body.status]).toEqual([status, word]);
  const started = await other.sql(`select 1 from audit_entries where chain = $1 and event = 'execution.started'`, [agent.id]);
  expect(started).toEqual([]);
  expect(receiver.requests).toHaveLength(before);
  await root.patch('/api/v1/capabilities/crm.push', { inputSchema: null });
});

test('the grant runs out between decision and commit: nothing begins', async () => {
  const agent = await anAgent(slow).granted('crm.push', { expiresAt: new Date(Date.now() + 1_200).toISOString() }).create();
  const before = receiver.requests.length;
  const { held, release } = line.hold('gate-commit-');
  const call = agent.client.post('/api/v1/execute', { capability: 'crm.push', input: { n: 1 } });
  await held;
  await pause(1_400);
  release();
  (await call).expect(403, 'CAPABILITY_NOT_GRANTED');
  expect(receiver.requests).toHaveLength(before);
});

test('a commit that arrives after its deadline does nothing', async () => {
  const agent = await anAgent(slow).granted('crm.push').create();
  const before = receiver.requests.length;
  const { held, release } = line.hold('gate-commit-');
  const call = agent.client.post('/api/v1/execute', { capability: 'crm.push', input: { n: 1 } });
  await held;
  await pause(4_500);
  release();
  (await call).expect(503, 'UNAVAILABLE');
  expect((await auditOf(other, agent.id)).filter(({ event }) => event.startsWith('execution.'))).toEqual([]);
  expect(receiver.requests).toHaveLength(before);
});

test('of two calls with one key, decided side by side on two servers, one runs', async () => {
  const agent = await anAgent(slow).granted('crm.push').create();
  const before = receiver.requests.length;
  const { held, release } = line.hold('gate-commit-');
  const body = { capability: 'crm.push', input: { n: 1 } };
  const first = agent.client.with({ 'idempotency-key': 'same' }).post('/api/v1/execute', body);
  await held;
  const headers = { authorization: `Bearer ${agent.token}`, 'idempotency-key': 'same' };
  const second = (await root.with(headers).post('/api/v1/execute', body)).expect(200);
  release();
  expect((await first).expect(200).body).toEqual(second.body);
  expect(receiver.requests).toHaveLength(before + 1);
});

test('a call that does not count leaves its use to the one that was decided behind it', async () => {
  const teamId = await aTeam(other, await firstOrganization(other));
  const limits = [callLimit(1, 'block', 'total')];
  (await root.post('/api/v1/capabilities/grant', { teamId, capability: COUNTED, limits })).expect(201);
  const [goes, stays] = (await teamMates(slow, teamId, 2)) as [BuiltAgent, BuiltAgent];
  const unrelated = await anAgent(slow).granted(COUNTED).create();
  const first = line.hold('gate-commit-');
  const calls: Promise<unknown>[] = [statusOf(unrelated)];
  await first.held;
  // Both wait for the batch behind, in this order.
  for (const agent of [goes, stays]) {
    calls.push(statusOf(agent));
    await pause(100);
  }
  const second = line.hold('gate-commit-');
  first.release();
  await second.held;
  (await deactivate(goes).finally(second.release)).expect(200);
  expect(await Promise.all(calls)).toEqual(['executed', 403, 'executed']);
  expect(await wrongTotals(other)).toEqual([]);
});

test('the last use is being taken by another server just then: the call waits for that, and is blocked', async () => {
  const limits = [callLimit(2, 'block', 'total')];
  const agent = await anAgent(slow).granted(COUNTED, { limits }).create();
  expect(await statusOf(agent)).toBe('executed');
  const [{ id }] = (await root.get(`${agentPath(agent)}/capabilities`)).list('grants') as [{ id: string }];
  const { held, release } = line.hold('gate-commit-');
  const call = statusOf(agent);
  await held;
  const another = new pg.Client({ connectionString: other.database.url });
  await another.connect();
  try {
    await another.query('begin');
    await another.query('update grant_usage set revision = revision + 1 where grant_id = $1', [id]);
    await another.query('update grant_totals set amount = amount + 1 where grant_id = $1', [id]);
    release();
    // Long enough for a commit that does not look at the lock to have compared the revision of before.
    await pause(300);
    await another.query('commit');
  } finally {
    release();
    await another.end();
  }
  expect(await call).toBe('blocked');
});
