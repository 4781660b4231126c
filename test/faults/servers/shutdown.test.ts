import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { auditOf } from '../../support/log/entries.js';
import { anAgent } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { defineCapability, executionBecomes, requestOf } from '../../support/builders/gate.js';
import { pause } from '../../support/proofs/races.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { EXECUTE } from '../../support/http/paths.js';

const DRAINED_WITHIN_MS = 25_000;

let server: TestServer;
let root: Client;
let receiver: Receiver;

beforeEach(async () => {
  [server, receiver] = await Promise.all([startServer({ ownProcess: true }), startReceiver()]);
  root = asRoot(server);
  const connector = { type: 'http', method: 'POST', url: receiver.url, body: '{input}', timeoutSeconds: 120 };
  await defineCapability(server, 'crm.push', { connector });
});

afterEach(async () => {
  await server.stop();
  await receiver.close();
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('SIGTERM lets what has begun end: calls are answered, approved actions closed, waits let go', async () => {
  receiver.standing({ delayMs: 1_500, body: { id: 1 } });
  const agent = await anAgent(server).granted('crm.push').granted('web.search').create();
  const asking = await anAgent(server).granted('crm.push', { hitlMode: 'propose' }).granted('email.send', { hitlMode: 'propose' })
    .create();
  const asked = await asking.client.post(EXECUTE, { capability: 'crm.push' });
  const open = await asking.client.post(EXECUTE, { capability: 'email.send' });
  await root.post(`/api/v1/hitl/${asked.text('hitlRequestId')}/approve`, {}, { query: { wait: 0 } });
  const call = agent.client.post(EXECUTE, { capability: 'crm.push', input: { n: 1 } });
  const wait = asking.client.get(`/api/v1/executions/${open.text('executionId')}`, { query: { wait: 50 } });
  await receiver.received(2);
  // The wait has to be with the server by now: whoever only knocks is turned away.
  await pause(500);

  const began = performance.now();
  const ended = server.kill('SIGTERM');
  expect((await call).expect(200).body).toMatchObject({ status: 'executed', output: { id: 1 } });
  expect((await wait).expect(200).at('execution.status')).toBe('pending_hitl');
  await ended;
  expect(performance.now() - began).toBeLessThan(12_000);
  await expect(agent.client.post(EXECUTE, { capability: 'web.search' })).rejects.toThrow('fetch failed');

  expect(await server.sql(`select 1 from executions where status = 'running'`)).toEqual([]);
  await server.restart();
  expect(await requestOf(server, asked.text('hitlRequestId')))
    .toMatchObject({ status: 'approved', execution: { status: 'executed' } });
  for (const one of [agent, asking]) {
    const events = (await auditOf(server, one.id)).map(({ event }) => event).filter((event) => event.startsWith('execution.'));
    expect(events).toEqual(['execution.started', 'execution.completed']);
  }
  expect(receiver.requests).toHaveLength(2);
});

test('calls under load while it goes down: each is answered whole or was never begun', async () => {
  const agent = await anAgent(server).granted('web.search').create();
  const replies = Promise.all(Array.from({ length: 300 }, async (_, i) => {
    await new Promise((resolve) => setTimeout(resolve, i % 60));
    const key = `k${i}`;
    return { key, reply: await agent.client.with({ 'idempotency-key': key })
      .post(EXECUTE, { capability: 'web.search', input: { key } })
      .catch(() => undefined) };
  }));
  await new Promise((resolve) => setTimeout(resolve, 30));
  await server.kill('SIGTERM');
  const answered = (await replies).flatMap(({ key, reply }) => (reply?.status === 200 ? [key] : []));
  const rows = await server.sql<{ key: string }>(`select input::json ->> 'key' as key from executions where status = 'executed'`);
  const kept = new Set(rows.map(({ key }) => key));
  expect(answered.filter((key) => !kept.has(key))).toEqual([]);
  expect(answered.length).toBeGreaterThan(0);
  await server.restart();
  expect((await root.get('/api/v1/audit/verify')).expect(200).body).toMatchObject({ valid: true });
});

test('a runtime that does not answer does not hold the server: it is gone within 25 s, and nothing runs twice', async () => {
  receiver.standing({ hang: 'before headers' });
  const agent = await anAgent(server).granted('crm.push').create();
  const call = agent.client.post(EXECUTE, { capability: 'crm.push' }).catch(() => undefined);
  await receiver.received(1);
  const id = String(receiver.requests[0]!.headers['idempotency-key']);
  const { pid } = server;
  process.kill(pid, 'SIGTERM');
  await eventually(() => expect(isAlive(pid)).toBe(false), { within: DRAINED_WITHIN_MS, every: 100 });
  await call;
  await server.restart();
  await server.sql(`update executions set lease_until = clock_timestamp() where status = 'running'`);
  await executionBecomes(server, id, 'indeterminate', 15_000);
  expect(receiver.requests).toHaveLength(1);
  const closings = (await auditOf(server, agent.id))
    .filter(({ event }) => event === 'execution.failed' || event === 'execution.completed');
  expect(closings).toHaveLength(1);
});
