import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent, type GrantTerms } from '../../support/builders/agents.js';
import { defineCapability } from '../../support/builders/gate.js';
import { anOrganization, aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { eventsOf } from '../../support/log/entries.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

interface Task {
  readonly id: string;
  readonly status: string;
  readonly chain: readonly string[];
  readonly executionId?: string;
  readonly [member: string]: unknown;
}

let server: TestServer;
let root: Client;
let member: BuiltPerson;
let names = 0;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
  member = await aPerson(server, 'member');
});
afterAll(() => server.stop());

async function aCapability(more: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const name = `delegated.task${names++}`;
  await defineCapability(server, name, more);
  return name;
}
const holders = (capability: string, ...terms: GrantTerms[]) =>
  Promise.all(terms.map((one) => anAgent(server).granted(capability, one).create()));
const delegate = (client: Client, capability: string, to: BuiltAgent | undefined, task: object = {}, more: object = {}) =>
  client.post('/api/v1/routing/delegate', { task: { capability, input: { n: 1 }, ...task }, ...(to ? { toAgentId: to.id } : {}), ...more });
const taskOf = (reply: Reply) => reply.expect(201).at('task') as Task;
const read = async (id: string, client: Client = root, wait = 0) =>
  (await client.get(`/api/v1/tasks/${id}`, { query: { wait } })).expect(200).at('task') as Task;
const execute = ({ client }: BuiltAgent, capability: string, taskId?: string, input: object = { n: 1 }) =>
  client.post('/api/v1/execute', { capability, input, ...(taskId === undefined ? {} : { context: { task_id: taskId } }) });
const openTasks = async ({ id }: BuiltAgent) =>
  (await server.sql('select open_tasks from audit_heads where chain = $1 and closed_at is null', [id]))[0]!['open_tasks'];

describe('delegating', () => {
  test('asks each agent of the chain about this very call, and names the one that may not', async () => {
    const capability = await aCapability({ inputSchema: { type: 'object', properties: { n: { type: 'integer' } } } });
    const [a, b] = await holders(capability, { conditions: [{ when: 'input.n > 5', hitlMode: 'block' }] }, {});
    const stranger = await anAgent(server).create();
    const outsider = (await delegate(a!.client, capability, stranger)).expect(403);
    expect([outsider.at('code'), outsider.text('detail')]).toEqual(['CAPABILITY_NOT_GRANTED', expect.stringContaining(stranger.id)]);
    expect((await delegate(stranger.client, capability, b)).expect(403).at('code')).toMatch(/NOT_GRANTED|NOT_IN_TOKEN/);
    const blocked = (await delegate(a!.client, capability, b, { input: { n: 6 } })).expect(403);
    expect([blocked.at('code'), blocked.text('detail')]).toEqual(['CAPABILITY_BLOCKED', expect.stringContaining(a!.id)]);
    (await delegate(a!.client, capability, b, { input: { n: 'x' } })).expect(422);
    (await root.post('/api/v1/stops', { scope: 'agent', id: b!.id, reason: 'test' })).expect(201);
    expect((await delegate(a!.client, capability, b)).expect(403).at('code')).toBe('STOPPED');
  });

  test('goes five agents deep and in no circle, within the task that it is part of', async () => {
    const capability = await aCapability();
    const agents = await holders(capability, {}, {}, {}, {}, {}, {});
    let parentId: string | undefined;
    for (let i = 0; i < 4; i++) {
      const task: Task = taskOf(await delegate(agents[i]!.client, capability, agents[i + 1], parentId === undefined ? {} : { parentId }));
      expect(task.chain).toEqual(agents.slice(0, i + 2).map(({ id }) => id));
      parentId = task.id;
    }
    expect((await delegate(agents[4]!.client, capability, agents[5], { parentId })).expect(409).text('detail')).toContain('5 agents');
    expect((await delegate(agents[1]!.client, capability, agents[0])).expect(409).text('detail')).toContain('circle');
    (await delegate(agents[0]!.client, capability, agents[5], { parentId })).expect(403);
    (await delegate(member.client, capability, agents[5], { parentId })).expect(403);
  });

  test.each([
    [{}, '/task'], [{ task: {} }, '/task/capability'], [{ task: { capability: 'a.b', input: [] } }, '/task/input'],
    [{ task: { capability: 'a.b', inputs: {} } }, '/task/inputs'], [{ task: { capability: 'a.b' }, to: 'x' }, '/to'],
  ])('%j is 400', async (body, pointer) => {
    const refused = (await root.post('/api/v1/routing/delegate', body)).expect(400);
    expect((refused.list('errors') as { pointer: string }[]).map((one) => one.pointer)).toContain(pointer);
  });

  test('in another name, and of another organization, is refused', async () => {
    const capability = await aCapability();
    const [a, b] = await holders(capability, {}, {});
    (await delegate(a!.client, capability, b, {}, { fromAgentId: b!.id })).expect(403);
    (await delegate(member.client, capability, b, {}, { fromAgentId: a!.id })).expect(403);
    const viewer = await aPerson(server, 'viewer');
    (await delegate(viewer.client, capability, b)).expect(403);
    const elsewhere = await aPerson(server, 'admin', { organizationId: await anOrganization(server) });
    (await delegate(elsewhere.client, capability, b)).expect(404);
    const task = taskOf(await delegate(a!.client, capability, b));
    (await elsewhere.client.get(`/api/v1/tasks/${task.id}`)).expect(404);
    (await elsewhere.client.post(`/api/v1/tasks/${task.id}/cancel`)).expect(404);
    const [c] = await holders(capability, {});
    (await c!.client.get(`/api/v1/tasks/${task.id}`)).expect(404);
    (await execute(c!, capability, task.id)).expect(403);
    expect([await read(task.id, a!.client), await read(task.id, b!.client)].map(({ id }) => id)).toEqual([task.id, task.id]);
  });
});

describe('a task ends', () => {
  test('by cancelling, with what was delegated within it', async () => {
    const capability = await aCapability();
    const [a, b, c] = await holders(capability, {}, {}, {});
    const first = taskOf(await delegate(a!.client, capability, b));
    const second = taskOf(await delegate(b!.client, capability, c, { parentId: first.id }));
    const waiting = read(second.id, root, 20);
    (await a!.client.post(`/api/v1/tasks/${first.id}/cancel`)).expect(200);
    expect([(await read(first.id)).status, (await waiting).status]).toEqual(['cancelled', 'cancelled']);
    expect(await eventsOf(server, c!.id)).toContain('task.ended');
    expect([await openTasks(b!), await openTasks(c!)]).toEqual([0, 0]);
    (await execute(c!, capability, second.id)).expect(403);
    (await a!.client.post(`/api/v1/tasks/${first.id}/cancel`)).expect(409);
  });

  test('with its parent, as soon as that is done', async () => {
    const capability = await aCapability();
    const [a, b, c] = await holders(capability, {}, {}, {});
    const first = taskOf(await delegate(a!.client, capability, b));
    const second = taskOf(await delegate(b!.client, capability, c, { parentId: first.id, input: { n: 2 } }));
    (await execute(b!, capability, first.id)).expect(200);
    expect((await read(second.id)).status).toBe('cancelled');
    (await execute(c!, capability, second.id, { n: 2 })).expect(403);
    await eventually(async () => expect(await openTasks(c!)).toBe(0));
    expect(await eventsOf(server, c!.id)).toContain('task.ended');
  });

  test.each([['removed', (agent: BuiltAgent) => root.delete(`/api/v1/agents/${agent.id}`)], ['transferred', async (agent: BuiltAgent) =>
    root.post(`/api/v1/agents/${agent.id}/transfer`, { organizationId: await anOrganization(server) })]])(
    'when its agent is %s', async (_what, leave) => {
      const capability = await aCapability();
      const [a, b] = await holders(capability, {}, {});
      const task = taskOf(await delegate(a!.client, capability, b));
      await leave(b!);
      expect(await read(task.id)).toMatchObject({ status: 'cancelled', reason: expect.stringMatching(/^agent_/) });
    });

  test('not by cancelling while it runs; the list knows each status', async () => {
    const capability = await aCapability();
    const [a, b] = await holders(capability, {}, { hitlMode: 'propose' });
    const task = taskOf(await delegate(a!.client, capability, b));
    const executionId = (await execute(b!, capability, task.id)).expect(202).text('executionId');
    expect((await root.post(`/api/v1/tasks/${task.id}/cancel`)).expect(409).text('detail')).toContain(executionId);
    const list = async (status: string) => {
      const found = (await root.get('/api/v1/tasks', { query: { agentId: b!.id, status } })).expect(200);
      return (found.list('tasks') as Task[]).map(({ id }) => id);
    };
    expect([await list('running'), await list('assigned')]).toEqual([[task.id], []]);
    (await root.post(`/api/v1/executions/${executionId}/cancel`)).expect(200);
    expect([await list('failed'), await list('running')]).toEqual([[task.id], []]);
  });
});

test('a task is taken once, however many try', async () => {
  const capability = await aCapability();
  const [a, b] = await holders(capability, {}, {});
  const task = taskOf(await delegate(a!.client, capability, b));
  const answers = await Promise.all(Array.from({ length: 8 }, () => execute(b!, capability, task.id)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 403)]);
});

test('an agent without tasks, and a task id that is nobody\'s, change nothing', async () => {
  const capability = await aCapability();
  const [agent] = await holders(capability, {});
  for (const taskId of ['my-own-label', 'task_00000000000000000000000000absent0000']) {
    expect((await execute(agent!, capability, taskId)).expect(200).at('status')).toBe('executed');
  }
  const both = { capability, context: { task_id: 'a', taskId: 'b' } };
  expect((await agent!.client.post('/api/v1/execute', both)).expect(400).at('errors')).toMatchObject([{ pointer: '/context/taskId' }]);
});

test('the log of all this verifies, and nothing in it is suspected', async () => {
  const capability = await aCapability();
  const [a, b, c] = await holders(capability, { hitlMode: 'escalate' }, { hitlMode: 'notify' }, { hitlMode: 'propose' });
  const first = taskOf(await delegate(a!.client, capability, b));
  const second = taskOf(await delegate(b!.client, capability, c, { parentId: first.id }));
  const requestId = (await execute(c!, capability, second.id)).expect(202).text('hitlRequestId');
  (await root.post(`/api/v1/hitl/${requestId}/approve`)).expect(200);
  (await execute(b!, capability)).expect(202);
  const breaks = (await root.get('/api/v1/audit/verify')).expect(200).list('breaks') as { detail: string }[];
  // People of the builders come by SQL, past the log.
  expect(breaks.filter(({ detail }) => !detail.includes('nobody called'))).toEqual([]);
});
