import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { anonymous, asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { auditOf, eventsOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { createTestDatabase } from '../../support/servers/database.js';
import { type DatabaseProxy, proxyTo } from '../../support/servers/database-proxy.js';
import { eventually } from '../../support/running/eventually.js';
import { defineCapability, executionBecomes, executionOf, requestOf } from '../../support/builders/gate.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { EXECUTE } from '../../support/http/paths.js';

let server: TestServer;
let root: Client;
let line: DatabaseProxy;
let receiver: Receiver;
/** What the receiver of the test is called by, and who may call it. */
let push: string;
let agent: BuiltAgent;
let tests = 0;

beforeAll(async () => {
  const database = await createTestDatabase();
  line = await proxyTo(database.url);
  server = await startServer({ replicaOf: { database }, env: { DATABASE_URL: line.url } });
  root = asRoot(server);
});

afterAll(async () => {
  await server.stop();
  await server.database.drop();
  await line.close();
});

beforeEach(async () => {
  receiver = await startReceiver();
  push = `crm.push-${++tests}`;
  await defineCapability(server, push, { connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}' } });
  agent = await anAgent(server).granted('web.search').granted(push).granted('email.send', { hitlMode: 'propose' }).create();
});

afterEach(() => receiver.close());

test('a start waits for a database that comes later', async () => {
  const later = await proxyTo(server.database.url);
  await later.cut();
  const { port } = new URL(later.url);
  let tried = 0;
  const nobody = createServer((socket) => {
    tried++;
    socket.destroy();
  }).listen(Number(port), '127.0.0.1');
  const starting = startServer({ replicaOf: server, env: { DATABASE_URL: later.url } });
  starting.catch(() => undefined);
  try {
    await eventually(() => expect(tried).toBeGreaterThan(1));
    await new Promise((resolve) => nobody.close(resolve));
    await later.restore();
    const started = await starting;
    expect(started.output().match(/the start waits for it/g)).toHaveLength(1);
    await started.stop();
  } finally {
    nobody.close();
    await later.close();
  }
});

const search = (key?: string): Promise<Reply> =>
  (key === undefined ? agent.client : agent.client.with({ 'idempotency-key': key }))
    .post(EXECUTE, { capability: 'web.search', input: { q: 1 } });

async function executions(): Promise<number> {
  const [row] = await server.sql<{ count: string }>('select count(*) from executions where agent_id = $1', [agent.id]);
  return Number(row!.count);
}

function isAway(reply: Reply): void {
  reply.expect(503, 'UNAVAILABLE');
  expect(Number(reply.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(JSON.stringify(reply.body)).not.toMatch(/ECONN|postgres|127\.0\.0\.1|select /i);
}

const worksAgain = () => eventually(async () => void (await search()).expect(200), { every: 100 });

test('the database is away: 503 with Retry-After, nothing runs; it recovers without a restart', async () => {
  const asked = (await agent.client.post(EXECUTE, { capability: 'email.send' })).expect(202);
  const [before, { pid }] = [await executions(), server];
  await line.cut();
  const began = performance.now();
  isAway(await search());
  expect(performance.now() - began).toBeLessThan(6_000);
  isAway(await agent.client.post(EXECUTE, { capability: push }));
  isAway(await agent.client.get('/api/v1/executions'));
  isAway(await root.post(`/api/v1/hitl/${asked.text('hitlRequestId')}/approve`));
  isAway(await root.get('/api/v1/audit'));
  (await anonymous(server).get('/health')).expect(200);
  expect((await anonymous(server).get('/health/ready')).status).toBe(503);
  await line.restore();
  await worksAgain();
  (await anonymous(server).get('/health/ready')).expect(200);
  expect(server.pid).toBe(pid);
  expect(await executions()).toBe(before + 1);
  expect(receiver.requests).toHaveLength(0);
  expect(await requestOf(server, asked.text('hitlRequestId'))).toMatchObject({ status: 'pending' });
});

test('an action that was running when it went away is closed with its own answer when it is back', async () => {
  receiver.standing({ delayMs: 600, body: { id: 9 } });
  const call = agent.client.post(EXECUTE, { capability: push, input: { n: 1 } });
  await receiver.received(1);
  await line.cut();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await line.restore();
  const reply = (await call).expect(200);
  expect(reply.body).toMatchObject({ status: 'executed', output: { id: 9 } });
  expect(await executionOf(server, reply.text('executionId'))).toMatchObject({ status: 'executed' });
  expect((await eventsOf(server, agent.id)).slice(-2)).toEqual(['execution.started', 'execution.completed']);
  expect(receiver.requests).toHaveLength(1);
});

test('every connection ended by the database\'s administrator: the next calls find new ones', async () => {
  await Promise.all(Array.from({ length: 20 }, () => search()));
  await server.sql(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`);
  await worksAgain();
  const entries = (await eventsOf(server, agent.id)).filter((event) => event.startsWith('execution.'));
  expect(entries.filter((event) => event === 'execution.started')).toHaveLength(await executions());
});

test('the commit\'s acknowledgement is lost: one execution, one pair of entries, and its key finds it', async () => {
  const lost = line.loseAcknowledgementOf('gate-commit-');
  const first = await search('lost');
  await lost;
  if (first.status !== 200) isAway(first);
  const again = (await search('lost')).expect(200);
  expect(again.body).toMatchObject({ status: 'executed' });
  if (first.status === 200) expect(again.at('executionId')).toBe(first.at('executionId'));
  expect(await executions()).toBe(1);
  expect((await eventsOf(server, agent.id)).filter((event) => event.startsWith('execution.'))).toEqual(
    ['execution.started', 'execution.completed']);
});

test('the same without a key: what is answered as done is done once, and 503 never hides a second one', async () => {
  const lost = line.loseAcknowledgementOf('gate-commit-');
  const reply = await search();
  await lost;
  expect([200, 503]).toContain(reply.status);
  expect(await executions()).toBe(1);
  if (reply.status === 200) expect(await executionOf(server, reply.text('executionId')))
    .toMatchObject({ auditId: reply.at('auditId') });
});

test('the acknowledgement of a connector\'s start is lost: its receiver is called at most once', async () => {
  const lost = line.loseAcknowledgementOf('gate-commit-');
  const client = agent.client.with({ 'idempotency-key': 'start' });
  const reply = await client.post(EXECUTE, { capability: push, input: { n: 1 } });
  await lost;
  expect([200, 503]).toContain(reply.status);
  expect(await executions()).toBe(1);
  expect(receiver.requests.length).toBe(reply.status === 200 ? 1 : 0);
  const entries = (await auditOf(server, agent.id)).filter(({ event }) => event === 'execution.started');
  expect(entries).toHaveLength(1);
});

test('the acknowledgement of a closing is lost: one closing entry, and no talk of a late answer', async () => {
  const lost = line.loseAcknowledgementOf('gate-close-');
  const reply = (await agent.client.post(EXECUTE, { capability: push, input: { n: 1 } })).expect(200);
  await lost;
  expect(reply.body).toMatchObject({ status: 'executed' });
  const entries = (await auditOf(server, agent.id)).filter(({ event }) => event.startsWith('execution.'));
  expect(entries.map(({ event }) => event)).toEqual(['execution.started', 'execution.completed']);
  expect(entries[1]!.id).toBe(reply.text('auditId'));
  expect(receiver.requests).toHaveLength(1);
});

test('the acknowledgement of an approval is lost: it is approved once and runs once, and its key finds it', async () => {
  const asking = await anAgent(server).granted(push, { hitlMode: 'propose' }).create();
  const asked = (await asking.client.post(EXECUTE, { capability: push, input: { n: 1 } })).expect(202);
  const lost = line.loseAcknowledgementOf('COMMIT', 'update hitl_requests');
  const approve = () => root.with({ 'idempotency-key': 'yes' })
    .post(`/api/v1/hitl/${asked.text('hitlRequestId')}/approve`, { note: 'yes' });
  const first = await approve();
  await lost;
  isAway(first);
  const again = (await approve()).expect(200);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.at('request')).toMatchObject({ status: 'approved', comment: 'yes' });
  await executionBecomes(server, asked.text('executionId'), 'executed');
  expect((await eventsOf(server, asking.id)).slice(-3)).toEqual(['hitl.approved', 'execution.started', 'execution.completed']);
  expect(receiver.requests).toHaveLength(1);
});

test('a commit that never arrived is not done, and its key is free', async () => {
  const { held } = line.hold('gate-commit-');
  const call = search('never');
  await held;
  await line.cut();
  await line.restore();
  isAway(await call);
  expect(await executions()).toBe(0);
  const again = (await search('never')).expect(200);
  expect(again.headers.get('idempotent-replayed')).toBeNull();
  expect(await executions()).toBe(1);
});
