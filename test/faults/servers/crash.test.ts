import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { auditOf } from '../../support/log/entries.js';
import { anAgent } from '../../support/builders/agents.js';
import { verification } from '../../support/erasure/erasures.js';
import { keepEvents, keptEvents } from '../../support/notifications/kept-events.js';
import { eventually } from '../../support/running/eventually.js';
import { defineCapability, executionBecomes, executionOf, pauseOutbox, requestOf, resumeOutbox } from '../../support/builders/gate.js';
import { aDoor, made, pause } from '../../support/proofs/races.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { back, startServer, type TestServer } from '../../support/servers/server.js';
import { EXECUTE } from '../../support/http/paths.js';

let server: TestServer;
let root: Client;
let receiver: Receiver;
/** What the receiver of the test is called by. */
let push: string;
let tests = 0;

beforeAll(async () => {
  server = await startServer();
  await keepEvents(server);
  root = asRoot(server);
});

afterAll(() => server.stop());

beforeEach(async () => {
  receiver = await startReceiver();
  push = `crm.push-${++tests}`;
  const connector = { type: 'http', method: 'POST', url: receiver.url, body: '{input}', timeoutSeconds: 120 };
  await defineCapability(server, push, { connector });
});

afterEach(() => receiver.close());

/** What the receiver saw, by execution. */
const receipts = (): Map<string, number> => {
  const seen = new Map<string, number>();
  for (const { headers } of receiver.requests) {
    const key = String(headers['idempotency-key']);
    seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  return seen;
};

const leaseEnds = () => server.sql(`update executions set lease_until = clock_timestamp() - interval '1 second' where status = 'running'`);

async function verifies(): Promise<void> {
  expect(await verification(server)).toMatchObject({ valid: true, breaks: [] });
}

test('killed again and again under load: every key has one execution, every start one end, every call one receipt', async () => {
  receiver.standing({ delayMs: 15, body: {} });
  const agents = await Promise.all([1, 2, 3].map(() => made(() => anAgent(server).granted('web.search').granted(push).create())));
  let stop = false;
  const answered = new Map<string, string>();
  const worker = async (n: number) => {
    for (let i = 0; !stop; i++) {
      const agent = agents[(n + i) % agents.length]!;
      const key = `${n}-${i}`;
      const capability = i % 3 === 0 ? push : 'web.search';
      const client = agent.client.with({ 'idempotency-key': key });
      for (let attempt = 0; attempt < 40 && !answered.has(key); attempt++) {
        const reply = await client.post(EXECUTE, { capability, input: { key } }).catch(() => undefined);
        if (reply?.status === 200) answered.set(key, reply.text('executionId'));
        // A connector call that died with its server: recovery will close it, not this test's patience.
        else if (reply?.status === 409) break;
        else await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  };
  const workers = Array.from({ length: 12 }, (_, n) => worker(n));
  const goesOn = async () => {
    const before = answered.size;
    await eventually(() => expect(answered.size).toBeGreaterThan(before + 15), { every: 10 });
  };
  for (let kill = 0; kill < 4; kill++) {
    await goesOn();
    await pause(37 * kill);
    await server.kill();
    await back(server);
  }
  await goesOn();
  stop = true;
  await Promise.all(workers);
  await leaseEnds();
  await eventually(async () => expect(await server.sql(`select 1 from executions where status = 'running'`)).toEqual([]),
    { within: 60_000 });

  expect(answered.size).toBeGreaterThan(50);
  const [twice] = await server.sql(`select input, count(*) from executions group by input having count(*) > 1`);
  expect(twice).toBeUndefined();
  const rows = await server.sql<{ id: string }>('select id from executions');
  const ids = new Set(rows.map(({ id }) => id));
  expect([...answered.values()].filter((id) => !ids.has(id))).toEqual([]);
  const ends = await server.sql<{ id: string; starts: string; ends: string }>(`
    select e.id, count(*) filter (where a.event = 'execution.started') as starts,
      count(*) filter (where a.event in ('execution.completed', 'execution.failed')) as ends
    from executions e left join audit_entries a on a.chain = e.agent_id and (a.payload::json #>> '{metadata,executionId}') = e.id
    group by e.id having count(*) filter (where a.event = 'execution.started') <> 1
      or count(*) filter (where a.event in ('execution.completed', 'execution.failed')) <> 1`);
  expect(ends).toEqual([]);
  expect([...receipts()].filter(([id, count]) => count > 1 || !ids.has(id))).toEqual([]);
  await verifies();
});

test('killed while a connector runs: indeterminate once the lease is over, never repeated', async () => {
  receiver.standing({ hang: 'before headers' });
  const agent = await anAgent(server).granted(push).create();
  const client = agent.client.with({ 'idempotency-key': 'once' });
  const call = () => client.post(EXECUTE, { capability: push, input: { n: 1 } });
  const lost = call().catch(() => undefined);
  await receiver.received(1);
  const id = String(receiver.requests[0]!.headers['idempotency-key']);
  const alsoLost = client.with({ 'idempotency-key': 'other' }).post(EXECUTE, { capability: push }).catch(() => undefined);
  const other = String((await receiver.received(2))[1]!.headers['idempotency-key']);
  await server.kill();
  await Promise.all([lost, alsoLost]);
  await server.sql(`update executions set lease_until = clock_timestamp() - interval '1 second' where id = $1`, [other]);
  await server.restart();

  // Whoever looks for what was abandoned has been here, and has left alone what may still be running elsewhere.
  await executionBecomes(server, other, 'indeterminate', 15_000);
  expect(await executionOf(server, id)).toMatchObject({ status: 'running' });
  const early = (await call()).expect(409, 'IDEMPOTENCY_IN_FLIGHT');
  expect(early.headers.get('retry-after')).toMatch(/^\d+$/);
  await leaseEnds();
  const execution = await executionBecomes(server, id, 'indeterminate', 15_000);
  const entries = (await auditOf(server, agent.id)).filter(({ metadata }) => metadata.executionId === id);
  expect(entries.map(({ event }) => event)).toEqual(['execution.started', 'execution.failed']);
  expect(entries[1]).toMatchObject({
    id: execution.auditId, actorId: 'system', outcome: 'failure', capability: push,
    metadata: { executionId: id, outcome: 'indeterminate', error: { code: expect.any(String) } },
  });
  expect((await call()).expect(200).body).toMatchObject({ status: 'failed', executionId: id });
  expect((await keptEvents(server, id)).map(({ event }) => event)).toEqual(['execution.indeterminate']);
  expect(receipts()).toEqual(new Map([[id, 1], [other, 1]]));
  await verifies();
});

test('killed between approval and run: it runs exactly once after the restart', async () => {
  const agent = await anAgent(server).granted(push, { hitlMode: 'propose' }).create();
  const asked = (await agent.client.post(EXECUTE, { capability: push, input: { n: 2 } })).expect(202);
  await pauseOutbox(server);
  await root.post(`/api/v1/hitl/${asked.text('hitlRequestId')}/approve`, {}, { query: { wait: 0 } });
  await server.kill();
  expect(receiver.requests).toHaveLength(0);
  await server.restart();
  await resumeOutbox(server);
  const request = await requestOf(server, asked.text('hitlRequestId'), 20);
  expect(request).toMatchObject({ status: 'approved', execution: { status: 'executed' } });
  await eventually(async () => expect(await server.sql(`select 1 from outbox where kind = 'execution.run'`)).toEqual([]));
  expect(receipts()).toEqual(new Map([[asked.text('executionId'), 1]]));
  expect((await auditOf(server, agent.id)).slice(-3).map(({ event }) => event)).toEqual(
    ['hitl.approved', 'execution.started', 'execution.completed']);
  await verifies();
});

test('killed while an approved action runs: it does not run again, and the request says so', async () => {
  receiver.standing({ hang: 'before headers' });
  const agent = await anAgent(server).granted(push, { hitlMode: 'propose' }).create();
  const asked = (await agent.client.post(EXECUTE, { capability: push, input: { n: 3 } })).expect(202);
  await root.post(`/api/v1/hitl/${asked.text('hitlRequestId')}/approve`, {}, { query: { wait: 0 } });
  await receiver.received(1);
  await server.kill();
  // Whatever the worker that died had claimed comes back at once.
  await server.sql('update outbox set available_at = clock_timestamp()');
  await leaseEnds();
  await server.restart();
  await executionBecomes(server, asked.text('executionId'), 'indeterminate', 15_000);
  expect(await requestOf(server, asked.text('hitlRequestId')))
    .toMatchObject({ status: 'approved', execution: { status: 'indeterminate' } });
  expect(receipts()).toEqual(new Map([[asked.text('executionId'), 1]]));
  expect((await auditOf(server, agent.id)).at(-1)).toMatchObject({
    event: 'execution.failed', metadata: { outcome: 'indeterminate', hitlId: asked.text('hitlRequestId') },
  });
});

test('an answer that comes after recovery has closed the execution is told beside, marked as late', async () => {
  const door = aDoor();
  receiver.standing({ after: door.opened, body: { id: 7 } });
  const agent = await anAgent(server).granted(push).create();
  const call = agent.client.post(EXECUTE, { capability: push });
  await receiver.received(1);
  const id = String(receiver.requests[0]!.headers['idempotency-key']);
  await leaseEnds();
  const closed = await executionBecomes(server, id, 'indeterminate', 15_000);
  door.open();
  (await call).expect(200);
  expect(await executionOf(server, id)).toEqual(closed);
  const entries = await eventually(async () => {
    const found = (await auditOf(server, agent.id)).filter(({ event }) => event.startsWith('execution.'));
    expect(found).toHaveLength(3);
    return found;
  });
  expect(entries.map(({ event }) => event)).toEqual(['execution.started', 'execution.failed', 'execution.reported']);
  expect(entries[2]!.metadata).toMatchObject({ executionId: id, late: true, outcome: 'success', output: { id: 7 } });
});
