import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { defineCapability, executionBecomes, executionOf } from '../../support/builders/gate.js';
import { verification } from '../../support/erasure/erasures.js';
import { EXECUTE } from '../../support/http/paths.js';
import { type Receiver, startReceiver } from '../../support/http/receiver.js';
import { auditOf } from '../../support/log/entries.js';
import { aNodesAgent, heartbeat, leased, NODE, result, start } from '../../support/node/work.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

// A server that dies, or stops, loses no answer of a node; and what no node had begun is never said to be unknown.

let server: TestServer;
let other: TestServer;
let root: Client;

beforeAll(async () => {
  other = await startServer();
  server = await startServer({ replicaOf: other });
  root = asRoot(other);
});
afterAll(async () => {
  await server.stop();
  await other.stop();
});

type Holder = BuiltAgent & { readonly capability: string };
const nodeOf = ({ token }: BuiltAgent): Client => root.with({ authorization: `Bearer ${token}` });
const leaseEnds = (id: string) =>
  other.sql(`update executions set lease_until = clock_timestamp() - interval '1 second' where id = $1 and status = 'running'`, [id]);
/** A server has queued a later beginning. */
const beginsAgain = (id: string, beginning: number) =>
  eventually(async () => expect(await other.sql(
    `select 1 from node_work where execution_id = $1 and status = 'queued' and execution_fence = $2`, [id, beginning])).toHaveLength(1));
const eventsOf = async ({ id }: BuiltAgent) =>
  (await auditOf(other, id)).map(({ event }) => event).filter((event) => event.startsWith('execution.'));

/** A call that the server has begun, and whose caller will not hear of it any more. */
async function begun(connector: object = {}, terms: object = {}): Promise<{ agent: Holder; node: Client; id: string }> {
  const agent = await aNodesAgent(other, { timeoutSeconds: 120, ...connector }, { ...terms });
  const node = nodeOf(agent);
  (await heartbeat(node)).expect(200);
  const asServer = asRoot(server).with({ authorization: `Bearer ${agent.token}` });
  if ('hitlMode' in terms) {
    const asked = (await asServer.post(EXECUTE, { capability: agent.capability, input: { n: 1 } })).expect(202);
    await asRoot(server).post(`/api/v1/hitl/${asked.text('hitlRequestId')}/approve`, {}, { query: { wait: 0 } });
  } else asServer.post(EXECUTE, { capability: agent.capability, input: { n: 1 } }).catch(() => undefined);
  const [row] = await eventually(async () => {
    const rows = await other.sql<{ id: string }>('select execution_id as id from node_work where agent_id = $1', [agent.id]);
    expect(rows).toHaveLength(1);
    return rows;
  });
  return { agent, node, id: row!.id };
}

describe.each(['SIGKILL', 'SIGTERM'] as const)('a server that ends by %s', (signal) => {
  const end = () => (signal === 'SIGKILL' ? server.kill() : server.restart());
  const back = async () => {
    if (signal === 'SIGKILL') await server.restart();
  };

  test('with the work started: the result closes the execution at another server', async () => {
    const { agent, node, id } = await begun();
    const work = await leased(node);
    (await start(node, work)).expect(200);
    await end();
    expect((await result(node, work)).expect(200).body).toEqual({ id, late: false });
    expect(await executionOf(other, id)).toMatchObject({ status: 'executed', output: { done: true } });
    await back();
    expect(await eventsOf(agent)).toEqual(['execution.started', 'execution.completed']);
  });

  test('with the work queued: a node takes it up all the same', async () => {
    const { agent, node, id } = await begun();
    await end();
    const work = await leased(node);
    (await start(node, work)).expect(200);
    (await result(node, work)).expect(200);
    expect(await executionOf(other, id)).toMatchObject({ status: 'executed' });
    await back();
    expect(await eventsOf(agent)).toEqual(['execution.started', 'execution.completed']);
  });
});

describe('a server that stops says of a call that goes on without it that it does', () => {
  async function answeredAtItsEnd(headers: Readonly<Record<string, string>>) {
    const agent = await aNodesAgent(other, { timeoutSeconds: 120 });
    const node = nodeOf(agent);
    (await heartbeat(node)).expect(200);
    const caller = asRoot(server).with({ authorization: `Bearer ${agent.token}`, ...headers });
    const call = () => caller.post(EXECUTE, { capability: agent.capability });
    const answer = call();
    const work = await leased(node);
    (await start(node, work)).expect(200);
    const [reply] = await Promise.all([answer, server.restart()]);
    return { reply, call, node, work };
  }

  test('and invites nobody to do it twice: it may have been done, and how it ends stands there', async () => {
    const { reply, node, work } = await answeredAtItsEnd({});
    expect(reply.expect(200).body).toMatchObject({
      status: 'failed', executionId: work.id, indeterminate: true, detail: expect.stringMatching(/Do not repeat it/),
      error: { code: 'SERVER_ENDED', message: expect.stringContaining(`How it ends: GET /api/v1/executions/${work.id}`) },
    });
    expect(reply.headers.get('retry-after')).toBeNull();
    expect(reply.headers.get('location')).toBe(`/api/v1/executions/${work.id}`);
    (await result(node, work)).expect(200);
    expect(await executionOf(other, work.id)).toMatchObject({ status: 'executed' });
  });

  test('but by its key it can be called again, and is found', async () => {
    const { reply, call, node, work } = await answeredAtItsEnd({ 'idempotency-key': 'one-press-run' });
    expect(reply.expect(503, 'UNAVAILABLE').text('detail')).toContain(work.id);
    expect(reply.headers.get('retry-after')).toBe('1');
    (await call()).expect(409, 'IDEMPOTENCY_IN_FLIGHT');
    (await result(node, work)).expect(200);
    expect((await call()).expect(200).body).toMatchObject({ status: 'executed', executionId: work.id });
  });
});

describe('recovery', () => {
  test.each(['queued', 'leased'])('of what was %s: it has failed, nothing was done, and nobody starts it any more', async (state) => {
    const { agent, node, id } = await begun();
    const work = state === 'leased' ? await leased(node) : undefined;
    await server.kill();
    await leaseEnds(id);
    await server.restart();
    const execution = await executionBecomes(other, id, 'failed', 20_000);
    expect(execution.error).toMatchObject({ code: 'NODE_UNREACHABLE', message: expect.stringMatching(/Nothing was done/) });
    if (work) (await start(node, work)).expect(409, 'CONFLICT');
    else expect((await node.post(`${NODE}/tasks/lease`)).status).toBe(204);
    expect(await eventsOf(agent)).toEqual(['execution.started', 'execution.failed']);
  });

  test('of what was started: indeterminate, and the result that comes then is late', async () => {
    const { agent, node, id } = await begun({ idempotent: true });
    const work = await leased(node);
    (await start(node, work)).expect(200);
    await server.kill();
    await leaseEnds(id);
    await server.restart();
    await executionBecomes(other, id, 'indeterminate', 20_000);
    expect((await result(node, work)).expect(200).body).toEqual({ id, late: true });
    expect(await eventsOf(agent)).toEqual(['execution.started', 'execution.failed', 'execution.reported']);
  });

  test('of what was approved and started, and may be repeated: leased again with the same key, three times at most', async () => {
    const { agent, node, id } = await begun({ idempotent: true }, { hitlMode: 'propose' });
    let former = await leased(node);
    expect((await start(node, former)).expect(200).at('task.idempotencyKey')).toBe(id);
    for (let beginning = 2; beginning <= 3; beginning++) {
      await leaseEnds(id);
      const work = await leased(node);
      expect(work).toMatchObject({ id, fence: beginning });
      (await result(node, former)).expect(409, 'CONFLICT');
      expect((await start(node, work)).expect(200).at('task.idempotencyKey')).toBe(id);
      former = work;
    }
    await leaseEnds(id);
    const execution = await executionBecomes(other, id, 'indeterminate', 20_000);
    expect(execution.error).toMatchObject({ message: expect.stringContaining('3 beginnings') });
    expect(await eventsOf(agent)).toEqual(['execution.started', 'execution.retried', 'execution.retried', 'execution.failed']);
  });

  test('of what has begun again: the result of the node before counts, until another node leases the work', async () => {
    const { agent, node, id } = await begun({ idempotent: true }, { hitlMode: 'propose' });
    const former = await leased(node);
    (await start(node, former)).expect(200);
    await leaseEnds(id);
    await beginsAgain(id, 2);
    (await result(node, former, { status: 'indeterminate', error: { message: 'restarted' } })).expect(409, 'CONFLICT');
    for (let n = 0; n < 2; n++) expect((await result(node, former)).expect(200).body).toEqual({ id, late: false });
    expect(await executionOf(other, id)).toMatchObject({ status: 'executed', output: { done: true } });
    expect((await node.post(`${NODE}/tasks/lease`)).status).toBe(204);
    expect(await eventsOf(agent)).toEqual(['execution.started', 'execution.retried', 'execution.completed']);
  });

  test('of a later beginning that was leased and never started: its lease has nothing to say', async () => {
    const { node, id } = await begun({ idempotent: true }, { hitlMode: 'propose' });
    (await start(node, await leased(node))).expect(200);
    await leaseEnds(id);
    await beginsAgain(id, 2);
    const second = await leased(node);
    await leaseEnds(id);
    await beginsAgain(id, 3);
    (await result(node, second)).expect(409, 'CONFLICT');
    const third = await leased(node);
    (await start(node, third)).expect(200);
    (await result(node, third)).expect(200);
    expect(await executionOf(other, id)).toMatchObject({ status: 'executed' });
  });

  test('of a later beginning that no node took up: nobody knows what the first one did', async () => {
    const { agent, node, id } = await begun({ idempotent: true, timeoutSeconds: 2 }, { hitlMode: 'propose' });
    const work = await leased(node);
    (await start(node, work)).expect(200);
    await leaseEnds(id);
    const execution = await executionBecomes(other, id, 'indeterminate', 60_000);
    expect(execution.error).toMatchObject({ code: 'NODE_TIMEOUT' });
    expect((await eventsOf(agent)).at(-1)).toBe('execution.failed');
    expect((await result(node, work)).expect(200).body).toEqual({ id, late: true });
    expect((await eventsOf(agent)).at(-1)).toBe('execution.reported');
  });
});

test('the log tells of all that was', async () => {
  expect(await verification(other)).toMatchObject({ valid: true, breaks: [] });
});

describe('a fallback', () => {
  let webhook: Receiver;
  let on: TestServer;
  beforeAll(async () => {
    webhook = await startReceiver();
    on = await startServer({
      env: { RUNTIME_PRIMARY: 'node', RUNTIME_FALLBACK: 'webhook', RUNTIME_WEBHOOK_URL: webhook.url,
        WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
    });
  });
  afterAll(async () => {
    await on.stop();
    await webhook.close();
  });
  let agent: Holder;
  let before: number;
  beforeEach(async () => {
    before = webhook.requests.length;
    const capability = `press.fold-${before}-${Date.now()}`;
    await defineCapability(on, capability, { connector: { type: 'node', timeoutSeconds: 4 } });
    agent = { ...(await anAgent(on).granted(capability).create()), capability };
  });
  let calls: number;
  afterEach(() => expect(webhook.requests.length - before).toBe(calls));
  const call = () => agent.client.post(EXECUTE, { capability: agent.capability });

  test('serves where the agent has no fresh node', async () => {
    const reply = (await call()).expect(200);
    expect(reply.at('status')).toBe('executed');
    expect(await executionOf(on, reply.text('executionId'))).toMatchObject({ runtime: 'webhook' });
    calls = 1;
  });

  test('takes over what nobody has started in half of the time, by withdrawing it', async () => {
    (await heartbeat(agent.client)).expect(200);
    const answer = call();
    const work = await leased(agent.client);
    expect((await answer).at('status')).toBe('executed');
    (await start(agent.client, work)).expect(409, 'CONFLICT');
    calls = 1;
  });

  test('never what was started, however long it takes', async () => {
    (await heartbeat(agent.client)).expect(200);
    const answer = call();
    const work = await leased(agent.client);
    (await start(agent.client, work)).expect(200);
    expect((await answer).body).toMatchObject({ status: 'failed', error: { code: 'NODE_TIMEOUT' } });
    calls = 0;
  });

  test('and a node serves every capability, where it is the primary runtime', async () => {
    const plain = await anAgent(on).granted('web.search').create();
    (await heartbeat(plain.client)).expect(200);
    const answer = plain.client.post(EXECUTE, { capability: 'web.search', input: { query: 'steel' } });
    const work = await leased(plain.client);
    expect((await start(plain.client, work)).expect(200).at('task.input')).toEqual({ query: 'steel' });
    (await result(plain.client, work)).expect(200);
    expect((await answer).body).toMatchObject({ status: 'executed', runs: 'service' });
    calls = 0;
  });
});

describe('PostgreSQL that is away', () => {
  test('when the work is to be queued, or its end is looked for: nothing is lost when it comes back', async () => {
    const agent = await aNodesAgent(other, { timeoutSeconds: 120 });
    const node = nodeOf(agent);
    (await heartbeat(node)).expect(200);
    const answer = asRoot(server).with({ authorization: `Bearer ${agent.token}` }).post(EXECUTE, { capability: agent.capability });
    const work = await leased(node);
    (await start(node, work)).expect(200);
    await other.sql(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name like 'countersign%'`).catch(() => undefined);
    await eventually(async () => (await result(node, work)).expect(200));
    expect((await answer).body).toMatchObject({ status: 'executed' });
  });
});
