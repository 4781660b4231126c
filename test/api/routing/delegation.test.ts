import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent, type GrantTerms } from '../../support/builders/agents.js';
import { defineCapability, executionOf, requestOf } from '../../support/builders/gate.js';
import { anOrganization, aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { auditOf, eventsOf } from '../../support/log/entries.js';
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

describe('a task', () => {
  test('is given, done by its id, and over; request, execution and entries show the chain', async () => {
    const capability = await aCapability();
    const [a, b] = await holders(capability, {}, {});
    const task = taskOf(await delegate(a!.client, capability, b, { description: 'do it' }));
    expect(task).toMatchObject({
      status: 'assigned', capability, input: { n: 1 }, fromAgentId: a!.id, toAgentId: b!.id, chain: [a!.id, b!.id], description: 'do it',
    });
    expect(await openTasks(b!)).toBe(1);
    const done = (await execute(b!, capability, task.id)).expect(200);
    expect(done.at('status')).toBe('executed');
    expect(await read(task.id)).toMatchObject({ status: 'done', executionId: done.at('executionId') });
    expect(await openTasks(b!)).toBe(0);
    expect(await executionOf(server, done.text('executionId'))).toMatchObject({ taskId: task.id, chain: [a!.id, b!.id] });
    const [started] = (await auditOf(server, b!.id)).filter(({ event }) => event === 'execution.started');
    expect(started!.metadata).toMatchObject({ taskId: task.id, delegators: [{ agentId: a!.id, grantVersion: 1 }] });
    expect(await eventsOf(server, b!.id)).toContain('task.delegated');
    (await execute(b!, capability, task.id)).expect(403);
  });

  test('counts as done by an equal call without its id, and as none by another', async () => {
    const capability = await aCapability();
    const [a, b] = await holders(capability, { hitlMode: 'propose' }, {});
    const task = taskOf(await delegate(a!.client, capability, b));
    expect((await execute(b!, capability, undefined, { n: 2 })).expect(200).at('status')).toBe('executed');
    expect((await read(task.id)).status).toBe('assigned');
    expect((await execute(b!, capability)).expect(202).at('status')).toBe('pending_hitl');
    expect((await read(task.id)).status).toBe('running');
  });

  test('goes to the best agent where none is named, and to nobody of the chain', async () => {
    const capability = await aCapability();
    const [a, b] = await holders(capability, {}, {});
    const given = await delegate(a!.client, capability, undefined);
    expect([taskOf(given).toAgentId, given.at('decision.agentId')]).toEqual([b!.id, b!.id]);
    expect(taskOf(given).decisionId).toBe(given.at('decision.id'));
    (await delegate(b!.client, capability, undefined)).expect(404);
    expect((await delegate(b!.client, capability, a)).expect(409).at('code')).toBe('CONFLICT');
  });

  test('by a person begins with the agent; the person may not approve it', async () => {
    const capability = await aCapability();
    const [agent] = await holders(capability, { hitlMode: 'propose' });
    const admin = await aPerson(server, 'admin');
    await aPerson(server, 'admin');
    const task = taskOf(await delegate(admin.client, capability, agent));
    expect([task.chain, task.delegatedBy, task.fromAgentId]).toEqual([[agent!.id], admin.id, undefined]);
    const requestId = (await execute(agent!, capability, task.id)).expect(202).text('hitlRequestId');
    expect((await admin.client.post(`/api/v1/hitl/${requestId}/approve`)).expect(403).at('code')).toBe('SELF_APPROVAL');
    expect(await requestOf(server, requestId)).toMatchObject({ task_id: task.id, chain: [agent!.id] });
  });
});

describe('the chain decides', () => {
  test.each([
    ['auto', 'notify', 'notify'], ['notify', 'auto', 'notify'], ['escalate', 'auto', 'escalate'], ['propose', 'escalate', 'escalate'],
  ])(
    '%s before %s is %s', async (first, second, wanted) => {
      const capability = await aCapability();
      const [a, b] = await holders(capability, { hitlMode: first }, { hitlMode: second });
      const task = taskOf(await delegate(a!.client, capability, b));
      expect((await execute(b!, capability, task.id)).at('effectiveMode')).toBe(wanted);
    });

  test.each<[string, (a: BuiltAgent, capability: string) => Promise<unknown>, string]>([
    ['revoked', async (a, capability) => {
      const grants = (await root.get(`/api/v1/agents/${a.id}/capabilities`)).list('grants') as { id: string; capability: string }[];
      return (await root.delete(`/api/v1/capabilities/grant/${grants.find((one) => one.capability === capability)!.id}`)).expect(204);
    }, 'CAPABILITY_NOT_GRANTED'],
    ['deactivated', async (a) => (await root.post(`/api/v1/agents/${a.id}/deactivate`)).expect(200), 'AGENT_INACTIVE'],
    ['stopped', async (a) => (await root.post('/api/v1/stops', { scope: 'agent', id: a.id, reason: 'test' })).expect(201), 'STOPPED'],
    ['removed', async (a) => (await root.delete(`/api/v1/agents/${a.id}`)).expect(204), 'AGENT_INACTIVE'],
  ])('an agent of the chain that is %s ends it', async (_what, change, code) => {
    const capability = await aCapability();
    const [a, b, c] = await holders(capability, {}, {}, {});
    const first = taskOf(await delegate(a!.client, capability, b));
    const second = taskOf(await delegate(b!.client, capability, c, { parentId: first.id }));
    expect(second.chain).toEqual([a!.id, b!.id, c!.id]);
    await change(a!, capability);
    const refused = (await execute(c!, capability, second.id)).expect(403);
    expect([code, 'FORBIDDEN']).toContain(refused.at('code'));
    expect((await execute(c!, capability)).status).toBe(refused.at('code') === 'FORBIDDEN' ? 200 : 403);
    if (code !== 'AGENT_INACTIVE') {
      const dry = await c!.client.post('/api/v1/execute', { capability, input: { n: 1 }, context: { task_id: second.id }, dryRun: true });
      expect(dry.expect(200).at('decision')).toBe(code);
    }
  });

  test('a block of any agent blocks, and leaves the task to be done', async () => {
    const capability = await aCapability();
    const [a, b] = await holders(capability, {}, {});
    const task = taskOf(await delegate(a!.client, capability, b));
    (await root.patch(`/api/v1/agents/${a!.id}/capabilities/${capability}`, { hitlMode: 'block' })).expect(200);
    expect((await execute(b!, capability, task.id)).expect(200).at('status')).toBe('blocked');
    expect((await read(task.id)).status).toBe('assigned');
    (await root.patch(`/api/v1/agents/${a!.id}/capabilities/${capability}`, { hitlMode: 'auto' })).expect(200);
    expect((await execute(b!, capability, task.id)).expect(200).at('status')).toBe('executed');
  });

  test("each grant's limits count, a shared one once", async () => {
    const capability = await aCapability();
    const [a, b] = await holders(capability, { limits: [{ max: 1, per: 'day', then: 'block' }] }, {});
    const first = taskOf(await delegate(a!.client, capability, b));
    const second = taskOf(await delegate(a!.client, capability, b, { input: { n: 2 } }));
    expect((await execute(b!, capability, first.id)).at('status')).toBe('executed');
    expect((await execute(b!, capability, second.id)).at('status')).toBe('blocked');
    expect((await execute(a!, capability)).at('status')).toBe('blocked');

    const teamId = (await root.post('/api/v1/teams', { name: 'shared' })).expect(201).text('team.id');
    const shared = await aCapability();
    const limits = [{ max: 2, per: 'day', then: 'block' }];
    (await root.post('/api/v1/capabilities/grant', { teamId, capability: shared, hitlMode: 'auto', limits })).expect(201);
    const [c, d] = await Promise.all([0, 1].map(() => anAgent(server).having({ teamId }).create()));
    const task = taskOf(await delegate(c!.client, shared, d));
    expect((await execute(d!, shared, task.id)).at('status')).toBe('executed');
    expect((await execute(c!, shared)).at('status')).toBe('executed');
    expect((await execute(c!, shared)).at('status')).toBe('blocked');
  });

  test('it is asked again at the approval, and when it begins', async () => {
    const capability = await aCapability();
    const [a, b] = await holders(capability, {}, { hitlMode: 'propose' });
    const task = taskOf(await delegate(a!.client, capability, b));
    const requestId = (await execute(b!, capability, task.id)).expect(202).text('hitlRequestId');
    (await root.post(`/api/v1/agents/${a!.id}/deactivate`)).expect(200);
    expect((await root.post(`/api/v1/hitl/${requestId}/approve`)).expect(409).at('code')).toBe('NOT_EXECUTABLE');
    expect((await read(task.id)).status).toBe('failed');

    (await root.post(`/api/v1/agents/${a!.id}/activate`)).expect(200);
    const again = taskOf(await delegate(root, capability, b, {}, { fromAgentId: a!.id }));
    const approved = (await execute(b!, capability, again.id)).expect(202).text('hitlRequestId');
    (await root.post(`/api/v1/hitl/${approved}/approve`)).expect(200);
    expect((await read(again.id)).status).toBe('done');
  });

  test('root names an agent of the organization that it names', async () => {
    const capability = await aCapability();
    const [a, b] = await holders(capability, {}, {});
    const of = (organizationId: string) => delegate(root, capability, b, {}, { fromAgentId: a!.id, organizationId });
    (await of(await anOrganization(server))).expect(404, 'NOT_FOUND');
    (await of('org_none')).expect(404, 'NOT_FOUND');
    const { organization_id: own } = (await server.sql('select organization_id from agents where id = $1', [a!.id]))[0]!;
    expect(taskOf(await of(own as string)).fromAgentId).toBe(a!.id);
  });

  test('the owner of the first agent may decide at level 0', async () => {
    const capability = await aCapability();
    const a = await anAgent(server).having({ ownerId: member.id }).granted(capability, { hitlMode: 'propose' }).create();
    const [b] = await holders(capability, {});
    const task = taskOf(await delegate(a.client, capability, b));
    const requestId = (await execute(b!, capability, task.id)).expect(202).text('hitlRequestId');
    const queue = (await member.client.get('/api/v1/hitl', { query: { assignedTo: 'me' } })).expect(200).list('requests');
    expect((queue as { id: string }[]).map(({ id }) => id)).toContain(requestId);
    (await member.client.post(`/api/v1/hitl/${requestId}/approve`)).expect(200);
    expect((await read(task.id, root, 5)).status).toBe('done');
  });

  test('the owner of the first agent is notified of the request in their queue, and nobody in their place', async () => {
    const capability = await aCapability();
    const admin = await aPerson(server, 'admin');
    const a = await anAgent(server).having({ ownerId: member.id }).granted(capability).create();
    const [b] = await holders(capability, { hitlMode: 'propose' });
    taskOf(await delegate(a.client, capability, b));
    const requestId = (await execute(b!, capability)).expect(202).text('hitlRequestId');
    const told = async ({ client }: BuiltPerson) => {
      const all = (await client.get('/api/v1/notifications')).expect(200).at('notifications') as { event: string; hitlRequestId: string }[];
      return all.filter((one) => one.hitlRequestId === requestId).map(({ event }) => event);
    };
    await eventually(async () => expect(await told(member)).toEqual(['hitl.request.created']));
    // Where level 0 has nobody, administrators stand in for it.
    expect(await told(admin)).toEqual([]);
  });
});
