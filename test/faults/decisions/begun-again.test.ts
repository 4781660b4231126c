import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { auditOf, type AuditEntry } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { verification } from '../../support/erasure/erasures.js';
import { eventually } from '../../support/running/eventually.js';
import { defineCapability, executionBecomes, executionOf, requestOf } from '../../support/builders/gate.js';
import { aDoor } from '../../support/proofs/races.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { keepEvents, keptEvents } from '../../support/notifications/kept-events.js';
import { EXECUTE } from '../../support/http/paths.js';

// An approved action whose receiver honours its key is called again after a crash; each beginning has a number, and only the newest
// one closes the execution.

let server: TestServer;
let root: Client;
let receiver: Receiver;
let names = 0;

beforeAll(async () => {
  server = await startServer();
  await keepEvents(server);
  root = asRoot(server);
});

afterAll(() => server.stop());

beforeEach(async () => {
  receiver = await startReceiver();
});

afterEach(() => receiver.close());

interface Approved {
  readonly agent: BuiltAgent;
  readonly capability: string;
  readonly id: string;
  readonly execution: string;
}

const connectorTo = (more: object) =>
  ({ type: 'http', method: 'POST', url: receiver.url, body: '{input}', timeoutSeconds: 120, idempotent: true, ...more });

/** An approved action that its receiver has. */
async function approved(more: object = {}): Promise<Approved> {
  const capability = `crm.push-${++names}`;
  await defineCapability(server, capability, { connector: connectorTo(more) });
  const limits = [{ max: 1, per: 'hour', then: 'block' }];
  const agent = await anAgent(server).granted(capability, { hitlMode: 'propose', limits }).create();
  const asked = (await agent.client.post(EXECUTE, { capability, input: { amount: 5 } })).expect(202);
  const calls = receiver.requests.length;
  (await root.post(`/api/v1/hitl/${asked.text('hitlRequestId')}/approve`, {}, { query: { wait: 0 } })).expect(200);
  await receiver.received(calls + 1);
  return { agent, capability, id: asked.text('hitlRequestId'), execution: asked.text('executionId') };
}

const leaseEnds = () => server.sql(`update executions set lease_until = clock_timestamp() - interval '1 second' where status = 'running'`);

/** The server dies with the call under way, and comes back when its lease is over: what it then finds it looks at as it starts. */
async function crash(): Promise<void> {
  await server.kill();
  await leaseEnds();
  await server.restart();
}

async function executionEntries({ agent }: Approved): Promise<AuditEntry[]> {
  return (await auditOf(server, agent.id)).filter(({ event }) => event.startsWith('execution.'));
}

/** Key and body of each call that arrived. */
const calls = (): string[] => receiver.requests.map(({ headers, body }) => `${String(headers['idempotency-key'])} ${body}`);

async function notificationsOf(id: string): Promise<number> {
  return (await keptEvents(server, id)).filter(({ event }) => event === 'execution.indeterminate').length;
}

async function verifies(): Promise<void> {
  expect(await verification(server)).toMatchObject({ valid: true, breaks: [] });
}

test('it is called again with the same key and the same bytes, and the log says so', async () => {
  receiver.script({ hang: 'before headers' });
  const request = await approved();
  await crash();
  await executionBecomes(server, request.execution, 'executed', 20_000);
  expect(calls()).toEqual(Array.from({ length: 2 }, () => `${request.execution} {"amount":5}`));
  const entries = await executionEntries(request);
  expect(entries.map(({ event }) => event)).toEqual(['execution.started', 'execution.retried', 'execution.completed']);
  expect(entries[1]).toMatchObject({
    actorId: 'system', capability: request.capability,
    metadata: { executionId: request.execution, hitlId: request.id, attempt: 2 },
  });
  expect(await requestOf(server, request.id)).toMatchObject({ status: 'approved', execution: { status: 'executed' } });
  expect(await notificationsOf(request.execution)).toBe(0);
  // It has one share in the grant's limit, however often it began.
  const [uses] = await server.sql<{ count: number }>('select count(*)::integer as count from grant_uses where execution_id = $1',
    [request.execution]);
  expect(uses!.count).toBe(1);
  await verifies();
});

test('three times at most: then nobody can tell, and people are told', async () => {
  receiver.standing({ hang: 'before headers' });
  const request = await approved();
  for (let beginning = 2; beginning <= 3; beginning++) {
    await crash();
    await eventually(() => expect(receiver.requests).toHaveLength(beginning));
  }
  await crash();
  const execution = await executionBecomes(server, request.execution, 'indeterminate', 20_000);
  expect(execution.error).toEqual({ code: 'INDETERMINATE', message: expect.stringContaining('3 beginnings') });
  const entries = await executionEntries(request);
  expect(entries.map(({ event, metadata }) => [event, metadata.attempt])).toEqual([
    ['execution.started', undefined], ['execution.retried', 2], ['execution.retried', 3], ['execution.failed', undefined],
  ]);
  expect(entries.at(-1)!.metadata).toMatchObject({ outcome: 'indeterminate', hitlId: request.id });
  expect(receiver.requests).toHaveLength(3);
  expect(await notificationsOf(request.execution)).toBe(1);
  await verifies();
});

type Obstacle = (request: Approved) => Promise<unknown>;
const OBSTACLES: readonly (readonly [name: string, code: string, make: Obstacle])[] = [
  ['its connector is not declared idempotent', '', ({ capability }) => root.patch(`/api/v1/capabilities/${capability}`,
    { connector: connectorTo({ idempotent: false }) })],
  ['its connector leads elsewhere now', 'definition_changed', ({ capability }) => root.patch(`/api/v1/capabilities/${capability}`,
    { connector: connectorTo({ url: `${receiver.url}/elsewhere` }) })],
  ['the agent is deactivated', 'agent_inactive', ({ agent }) => root.post(`/api/v1/agents/${agent.id}/deactivate`)],
  ['the grant blocks now', 'blocked', ({ agent, capability }) =>
    root.patch(`/api/v1/agents/${agent.id}/capabilities/${capability}`, { hitl_mode: 'block' })],
  ['a stop holds the agent', 'stopped', ({ agent }) => root.post('/api/v1/stops', { scope: 'agent', id: agent.id, reason: 'a test' })],
  ['a stop held it and was lifted', 'stopped', async ({ agent }) => {
    const made = (await root.post('/api/v1/stops', { scope: 'agent', id: agent.id, reason: 'a test' })).expect(201);
    return root.delete(`/api/v1/stops/${made.text('stop.id')}`);
  }],
  ['the approved input was edited', 'digest_mismatch', ({ id }) =>
    server.sql(`update hitl_requests set input = '{"amount":5000}' where id = $1`, [id])],
];

test('a beginning like the first: what stands in the way of that leaves it indeterminate, and nothing is called', async () => {
  receiver.standing({ hang: 'before headers' });
  const requests: Approved[] = [];
  for (const _obstacle of OBSTACLES) requests.push(await approved());
  await server.kill();
  await server.restart();
  await server.sql('create table inputs_as_asked as select id, input from hitl_requests');
  for (const [i, [, , make]] of OBSTACLES.entries()) await make(requests[i]!);
  await leaseEnds();
  for (const [i, [name, code]] of OBSTACLES.entries()) {
    const request = requests[i]!;
    const execution = await executionBecomes(server, request.execution, 'indeterminate', 20_000);
    const message = expect.stringMatching(code === '' ? /not repeated\.$/ : new RegExp(`: ${code}\\.$`));
    expect([name, execution.error]).toEqual([name, { code: 'INDETERMINATE', message }]);
    expect((await executionEntries(request)).map(({ event }) => event)).toEqual(['execution.started', 'execution.failed']);
    expect(await notificationsOf(request.execution)).toBe(1);
  }
  expect(receiver.requests).toHaveLength(OBSTACLES.length);
  // What was edited by hand is found; the rest is as it was written.
  const { breaks } = await verification(server);
  expect(breaks).toEqual([expect.objectContaining({
    kind: 'incomplete', detail: expect.stringMatching(/^request hitl_\w+ has another input than its entries say$/),
  })]);
  await server.sql('update hitl_requests q set input = a.input from inputs_as_asked a where a.id = q.id');
  await verifies();
});

test('what began at the gate is not called again: that is for its caller to ask', async () => {
  receiver.standing({ hang: 'before headers' });
  await defineCapability(server, 'crm.sync', { connector: connectorTo({}) });
  const agent = await anAgent(server).granted('crm.sync').create();
  const lost = agent.client.post(EXECUTE, { capability: 'crm.sync' }).catch(() => undefined);
  const [call] = await receiver.received(1);
  await crash();
  await lost;
  await executionBecomes(server, String(call!.headers['idempotency-key']), 'indeterminate', 20_000);
  expect(receiver.requests).toHaveLength(1);
});

describe('a server that was out of reach for the length of its lease, and answers after the call was made again', () => {
  test('while that runs: the late answer closes nothing', async () => {
    const [first, second] = [aDoor(), aDoor()];
    receiver.script({ after: first.opened, body: { n: 1 } }, { after: second.opened, body: { n: 2 } });
    const request = await approved();
    await leaseEnds();
    await eventually(() => expect(receiver.requests).toHaveLength(2));
    first.open();
    const late = await eventually(async () => {
      const entries = await executionEntries(request);
      expect(entries.map(({ event }) => event)).toEqual(['execution.started', 'execution.retried', 'execution.reported']);
      return entries[2]!;
    });
    expect(late.metadata).toMatchObject({ executionId: request.execution, late: true, outcome: 'success', output: { n: 1 } });
    expect(await executionOf(server, request.execution)).toMatchObject({ status: 'running' });
    second.open();
    expect(await executionBecomes(server, request.execution, 'executed', 20_000)).toMatchObject({ output: { n: 2 } });
    expect((await executionEntries(request)).map(({ event }) => event).slice(3)).toEqual(['execution.completed']);
    await verifies();
  });

  test('after that has ended: what is closed stays so', async () => {
    const first = aDoor();
    receiver.script({ after: first.opened, status: 500 }, { body: { n: 2 } });
    const request = await approved();
    await leaseEnds();
    const closed = await executionBecomes(server, request.execution, 'executed', 20_000);
    first.open();
    await eventually(async () => expect((await executionEntries(request)).map(({ event }) => event))
      .toEqual(['execution.started', 'execution.retried', 'execution.completed', 'execution.reported']));
    expect(await executionOf(server, request.execution)).toEqual(closed);
    await verifies();
  });
});

describe('one that cannot be ended', () => {
  test('does not keep the others waiting', async () => {
    receiver.standing({ hang: 'before headers' });
    const broken = await approved({ idempotent: false });
    const other = await approved({ idempotent: false });
    await server.kill();
    await server.restart();
    await server.sql(`update executions set lease_until = clock_timestamp() - interval '2 minutes' where id = $1`, [broken.execution]);
    // What a hand in the database left behind: nobody can say any more what was asked.
    await server.sql('delete from hitl_requests where id = $1', [broken.id]);
    await server.sql(`update executions set lease_until = clock_timestamp() - interval '1 minute' where id = $1`, [other.execution]);
    await executionBecomes(server, other.execution, 'indeterminate');
    expect((await executionOf(server, broken.execution)).status).toBe('running');
  });
});
