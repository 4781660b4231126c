import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { executionBecomes, executionOf } from '../../support/builders/gate.js';
import { verification } from '../../support/erasure/erasures.js';
import { auditOf } from '../../support/log/entries.js';
import { aNodesAgent, doneByNode, heartbeat, leased, NODE, result, start } from '../../support/node/work.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const EXECUTE = '/api/v1/execute';

let server: TestServer;
let replica: TestServer;
let root: Client;

beforeAll(async () => {
  server = await startServer();
  replica = await startServer({ replicaOf: server });
  root = asRoot(server);
});
afterAll(async () => {
  expect(await verification(server)).toMatchObject({ valid: true, breaks: [] });
  await replica.stop();
  await server.stop();
});

type Holder = BuiltAgent & { readonly capability: string };
const call = (agent: Holder, body: object = {}): Promise<Reply> =>
  agent.client.post(EXECUTE, { capability: agent.capability, input: { pages: 3 }, ...body });
const workOf = async (id: string) =>
  (await server.sql<Record<string, unknown>>('select * from node_work where execution_id = $1', [id]))[0]!;
const eventsOf = async ({ id }: BuiltAgent) =>
  (await auditOf(server, id)).map(({ event }) => event).filter((event) => event.startsWith('execution.'));
/** The same agent, calling the other server. */
const at = (other: TestServer, { token }: BuiltAgent) => asRoot(other).with({ authorization: `Bearer ${token}` });

/** An agent whose node is fresh, with a call under way that its node has leased. */
async function underWay(connector: object = {}, terms: object = {}) {
  const agent = await aNodesAgent(server, { ...connector }, { ...terms });
  (await heartbeat(agent.client)).expect(200);
  const answer = call(agent);
  answer.catch(() => undefined);
  const work = await leased(agent.client);
  return { agent, answer, work };
}

describe('a heartbeat', () => {
  test('says when the node was seen, leaves no entry and raises no revision', async () => {
    const agent = await anAgent(server).create();
    const head = () => server.sql('select revision, seq from audit_heads where chain = $1', [agent.id]);
    const before = await head();
    const reply = (await heartbeat(agent.client, { load: 0.5, version: '2.1.0' })).expect(200);
    expect(reply.body).toEqual({ agentId: agent.id, nodeLastSeen: expect.any(String), cancelled: [] });
    expect(await head()).toEqual(before);
    const shown = (await root.get(`/api/v1/agents/${agent.id}`)).expect(200).at('agent');
    expect(shown).toMatchObject({ nodeLastSeen: reply.text('nodeLastSeen'), nodeLoad: 0.5, nodeVersion: '2.1.0' });
    // What is left out stays; and an administrator's change beside leaves when it was seen.
    (await heartbeat(agent.client)).expect(200);
    (await root.patch(`/api/v1/agents/${agent.id}`, { description: 'prints' })).expect(200);
    expect((await root.get(`/api/v1/agents/${agent.id}`)).at('agent')).toMatchObject({ nodeLoad: 0.5, nodeVersion: '2.1.0' });
  });

  test.each([{ load: 1.5 }, { load: '1' }, { version: '' }, { version: 'a\nb' }, { loads: 1 }])('400 for %j', async (body) => {
    (await heartbeat((await anAgent(server).create()).client, body)).expect(400, 'VALIDATION_FAILED');
  });

  test('is for agents alone', async () => {
    (await heartbeat(root)).expect(403, 'FORBIDDEN');
  });
});

describe('work', () => {
  test('goes from the gate to a node at another server and back, with its input handed out once', async () => {
    const agent = await aNodesAgent(server);
    const node = at(replica, agent);
    const poll = node.post(`${NODE}/tasks/lease`, undefined, { query: { wait: 20 } });
    await eventually(async () => expect((await root.get(`/api/v1/agents/${agent.id}`)).at('agent')).toHaveProperty('nodeLastSeen'));
    const answer = call(agent, { action: 'print', context: { task_id: 'mine' } });
    const task = (await poll).expect(200).at('task') as Record<string, unknown> & { id: string; fence: number };
    expect(Object.keys(task).sort()).toEqual(['capability', 'deadline', 'fence', 'id', 'leaseUntil']);
    const started = (await start(node, task)).expect(200).at('task');
    expect(started).toMatchObject({
      id: task.id, capability: agent.capability, input: { pages: 3 }, action: 'print', context: { task_id: 'mine' },
      idempotencyKey: task.id,
    });
    (await start(node, task)).expect(409, 'CONFLICT');
    expect((await result(node, task)).expect(200).body).toEqual({ id: task.id, late: false });
    expect((await answer).expect(200).body).toMatchObject({
      status: 'executed', executionId: task.id, runs: 'service', output: { done: true }, durationMs: expect.any(Number),
    });
    expect(await executionOf(server, task.id)).toMatchObject({ status: 'executed', runtime: 'node', output: { done: true } });
    expect(await eventsOf(agent)).toEqual(['execution.started', 'execution.completed']);
  });

  test('a failure of the node is the failure of the execution', async () => {
    const { agent, answer, work } = await underWay();
    (await start(agent.client, work)).expect(200);
    const said = { status: 'failed', output: { page: 2 }, error: { code: 'PRINTER_JAMMED', message: 'paper' } };
    (await result(agent.client, work, said)).expect(200);
    expect((await answer).expect(200).body).toMatchObject({
      status: 'failed', error: { code: 'PRINTER_JAMMED', message: 'paper' }, output: { page: 2 },
    });
  });

  test('a node that lost what it was at says so: indeterminate', async () => {
    const { agent, answer, work } = await underWay();
    (await start(agent.client, work)).expect(200);
    (await result(agent.client, work, { status: 'indeterminate', error: { message: 'restarted' } })).expect(200);
    expect((await answer).expect(200).body).toMatchObject({ status: 'failed', error: { code: 'NODE_ERROR', message: 'restarted' } });
    expect(await executionOf(server, work.id)).toMatchObject({ status: 'indeterminate' });
  });

  test('of starts that come at once one has it, and of results the first', async () => {
    const { agent, answer, work } = await underWay();
    const statuses = async (replies: Promise<Reply>[]) => (await Promise.all(replies)).map(({ status }) => status).sort();
    expect(await statuses([1, 2, 3].map(() => start(agent.client, work)))).toEqual([200, 409, 409]);
    const failed = { status: 'failed', error: { message: 'paper' } };
    const said = await statuses([result(agent.client, work), result(agent.client, work), result(at(replica, agent), work, failed)]);
    expect([[200, 200, 409], [200, 409, 409]]).toContainEqual(said);
    await answer;
    expect((await eventsOf(agent)).length).toBe(2);
  });

  test('the same result again is 200, another one 409, at either server', async () => {
    const { agent, answer, work } = await underWay();
    (await start(agent.client, work)).expect(200);
    (await result(agent.client, work)).expect(200);
    expect((await result(at(replica, agent), work)).expect(200).body).toEqual({ id: work.id, late: false });
    (await result(agent.client, work, { status: 'executed', output: { done: false } })).expect(409, 'CONFLICT');
    await answer;
    expect(await eventsOf(agent)).toEqual(['execution.started', 'execution.completed']);
  });

  test.each([
    ['an error of what was executed', { status: 'executed', error: { message: 'x' } }],
    ['a failure without an error', { status: 'failed' }],
    ['an output of what nobody knows', { status: 'indeterminate', output: 1, error: { message: 'x' } }],
    ['another word', { status: 'done' }],
    ['a code in lower case', { status: 'failed', error: { code: 'x', message: 'x' } }], ['no lease', { status: 'executed', fence: null }],
  ])('400 for %s', async (_, body) => {
    const agent = await anAgent(server).create();
    (await result(agent.client, { id: 'exec_00000000000000000000000000absent0000', fence: 1 }, body)).expect(400, 'VALIDATION_FAILED');
  });

  test('is one node\'s: of two that poll at once one gets it, and another agent finds nothing there', async () => {
    const agent = await aNodesAgent(server);
    (await heartbeat(agent.client)).expect(200);
    const answer = call(agent);
    await eventually(async () => expect(await server.sql('select 1 from node_work where agent_id = $1', [agent.id])).toHaveLength(1));
    const polls = await Promise.all([agent.client, at(replica, agent)].map((node) => node.post(`${NODE}/tasks/lease`)));
    expect(polls.map(({ status }) => status).sort()).toEqual([200, 204]);
    const work = polls.find(({ status }) => status === 200)!.at('task') as { id: string; fence: number };
    const stranger = await anAgent(server).create();
    (await start(stranger.client, work)).expect(404, 'NOT_FOUND');
    (await result(stranger.client, work)).expect(404, 'NOT_FOUND');
    (await result(agent.client, work)).expect(409, 'CONFLICT');
    (await start(agent.client, { ...work, fence: 7 })).expect(409, 'CONFLICT');
    expect(await workOf(work.id)).toMatchObject({ status: 'leased', fence: 1 });
    (await start(agent.client, work)).expect(200);
    (await result(agent.client, { ...work, fence: 7 })).expect(409, 'CONFLICT');
    (await result(agent.client, work)).expect(200);
    (await answer).expect(200);
  });

  test('not started in time it can be leased again; then the former lease is stale', async () => {
    const { agent, answer, work } = await underWay();
    await server.sql(`update node_work set lease_until = clock_timestamp() where execution_id = $1`, [work.id]);
    (await start(agent.client, work)).expect(409, 'CONFLICT');
    const again = await leased(agent.client);
    expect(again).toMatchObject({ id: work.id, fence: 2 });
    (await start(agent.client, work)).expect(409, 'CONFLICT');
    (await start(agent.client, again)).expect(200);
    (await result(agent.client, work)).expect(409, 'CONFLICT');
    (await result(agent.client, again)).expect(200);
    expect((await answer).body).toMatchObject({ status: 'executed' });
  });

  test('a lease dies with the tokens of the agent: a new one takes the work up', async () => {
    const { agent, answer, work } = await underWay();
    (await root.delete(`/api/v1/agents/${agent.id}/tokens`)).expect(204);
    (await start(agent.client, work)).expect(401, 'UNAUTHENTICATED');
    const token = (await root.post(`/api/v1/agents/${agent.id}/token`)).expect(200).text('token');
    const node = at(server, { ...agent, token });
    (await start(node, work)).expect(409, 'CONFLICT');
    const again = await leased(node);
    expect(again).toMatchObject({ id: work.id, fence: 2 });
    (await start(node, again)).expect(200);
    (await result(node, again)).expect(200);
    await answer.catch(() => undefined);
    await executionBecomes(server, work.id, 'executed');
  });

  test('approved by a person, it goes the same way', async () => {
    const agent = await aNodesAgent(server, {}, { hitlMode: 'propose' });
    (await heartbeat(agent.client)).expect(200);
    const asked = (await call(agent)).expect(202);
    expect(asked.at('runs')).toBe('service');
    const approving = root.post(`/api/v1/hitl/${asked.text('hitlRequestId')}/approve`, {}, { query: { wait: 20 } });
    const work = await leased(agent.client);
    (await start(agent.client, work)).expect(200);
    (await result(agent.client, work)).expect(200);
    expect((await approving).expect(200).at('request.execution')).toMatchObject({ status: 'executed' });
  });
});

describe('the gate is asked once more when a node is to start', () => {
  type Obstacle = (agent: Holder) => Promise<unknown>;
  const grantOf = ({ id, capability }: Holder) => `/api/v1/agents/${id}/capabilities/${capability}`;
  const obstacles: [name: string, code: string, make: Obstacle][] = [
    ['the grant was revoked', 'CAPABILITY_NOT_GRANTED', async ({ id: agentId, capability }) => {
      const grants = (await root.get('/api/v1/capabilities/grants', { query: { agentId, capability } })).expect(200);
      return root.delete(`/api/v1/capabilities/grant/${grants.text('grants.0.id')}`);
    }],
    ['the grant blocks', 'BLOCKED', (agent) => root.patch(grantOf(agent), { hitl_mode: 'block' })],
    ['a stop holds the agent', 'STOPPED', ({ id }) => root.post('/api/v1/stops', { scope: 'agent', id, reason: 'a test' })],
    ['the definition has changed', 'DEFINITION_CHANGED', ({ capability }) =>
      root.patch(`/api/v1/capabilities/${capability}`, { connector: { type: 'node', timeoutSeconds: 21 } })],
  ];

  test.each(obstacles)('where %s it has failed as %s, and nothing was handed out', async (_, code, make) => {
    for (const terms of [{}, { hitlMode: 'propose' }]) {
      const agent = await aNodesAgent(server, {}, terms);
      (await heartbeat(agent.client)).expect(200);
      // What the server has just read of the agent is kept for the next start.
      if (!('hitlMode' in terms)) await doneByNode(agent.client, call(agent));
      const asked = call(agent);
      if ('hitlMode' in terms) await root.post(`/api/v1/hitl/${(await asked).text('hitlRequestId')}/approve`, {}, { query: { wait: 0 } });
      const work = await leased(agent.client);
      expect([200, 201, 204]).toContain(((await make(agent)) as Reply).status);
      const refused = (await start(agent.client, work)).expect(409, 'NOT_EXECUTABLE');
      expect(JSON.stringify(refused.body)).not.toContain('pages');
      const execution = await executionBecomes(server, work.id, 'failed');
      expect(execution.error).toMatchObject({ code });
      expect((await eventsOf(agent)).slice(-2)).toEqual(['execution.started', 'execution.failed']);
      expect((await heartbeat(agent.client)).expect(200).at('cancelled')).toEqual([work.id]);
      (await start(agent.client, work)).expect(409, 'CONFLICT');
    }
  });

  test('and a mode that asks a person now', async () => {
    const { agent, answer, work } = await underWay();
    (await root.patch(grantOf(agent), { hitl_mode: 'propose' })).expect(200);
    (await start(agent.client, work)).expect(409, 'NOT_EXECUTABLE');
    expect((await answer).body).toMatchObject({ status: 'failed', error: { code: 'APPROVAL_NEEDED' } });
  });

  test.each([[{}], [{ hitlMode: 'propose' }]])('of a task also for the agent that gave it, by terms %j', async (terms) => {
    const agent = await aNodesAgent(server, {}, terms);
    (await heartbeat(agent.client)).expect(200);
    const { capability } = agent;
    const giver = await anAgent(server).granted(capability).create();
    for (const isRevoked of [false, true]) {
      const task = { capability, input: { pages: 3 } };
      (await giver.client.post('/api/v1/routing/delegate', { task, toAgentId: agent.id })).expect(201);
      const asked = call(agent);
      if ('hitlMode' in terms) await root.post(`/api/v1/hitl/${(await asked).text('hitlRequestId')}/approve`, {}, { query: { wait: 0 } });
      const work = await leased(agent.client);
      if (isRevoked) (await root.patch(grantOf({ ...giver, capability }), { hitl_mode: 'block' })).expect(200);
      const started = await start(agent.client, work);
      if (isRevoked) started.expect(409, 'NOT_EXECUTABLE');
      else (await result(agent.client, work)).expect(200);
      expect(await executionBecomes(server, work.id, isRevoked ? 'failed' : 'executed')).toMatchObject({ chain: [giver.id, agent.id] });
    }
  });
});

describe('what ends at its deadline', () => {
  test('without a fresh node: at once, and nothing was done', async () => {
    const agent = await aNodesAgent(server);
    const reply = (await call(agent)).expect(200);
    expect(reply.body).toMatchObject({ status: 'failed', error: { code: 'NODE_UNREACHABLE' } });
    (await heartbeat(agent.client)).expect(200);
    await server.sql(`update agents set node_last_seen = clock_timestamp() - interval '61 seconds' where id = $1`, [agent.id]);
    expect((await call(agent)).body).toMatchObject({ status: 'failed', error: { code: 'NODE_UNREACHABLE' } });
    expect((await agent.client.post(`${NODE}/tasks/lease`)).status).toBe(204);
  });

  test('queued or leased, it is withdrawn: nobody can start it any more', async () => {
    const { agent, answer, work } = await underWay({ timeoutSeconds: 1 });
    expect((await answer).body).toMatchObject({ status: 'failed', error: { code: 'NODE_UNREACHABLE' } });
    (await start(agent.client, work)).expect(409, 'CONFLICT');
    expect(await workOf(work.id)).toMatchObject({ status: 'withdrawn' });
    expect((await heartbeat(agent.client)).at('cancelled')).toEqual([work.id]);
  });

  test('started, it is indeterminate; a result that comes later is recorded as late, once', async () => {
    const { agent, answer, work } = await underWay({ timeoutSeconds: 1 });
    (await start(agent.client, work)).expect(200);
    expect((await answer).body).toMatchObject({ status: 'failed', error: { code: 'NODE_TIMEOUT' } });
    expect((await heartbeat(agent.client)).at('cancelled')).toEqual([work.id]);
    for (let n = 0; n < 2; n++) expect((await result(agent.client, work)).expect(200).body).toEqual({ id: work.id, late: true });
    expect(await executionOf(server, work.id)).toMatchObject({ status: 'indeterminate' });
    const entries = (await auditOf(server, agent.id)).filter(({ event }) => event.startsWith('execution.'));
    expect(entries.map(({ event }) => event)).toEqual(['execution.started', 'execution.failed', 'execution.reported']);
    expect(entries[2]!.metadata).toMatchObject({ executionId: work.id, late: true, outcome: 'success', output: { done: true } });
  });
});
