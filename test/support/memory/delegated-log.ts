import type { GrantTerms } from '../builders/agents.js';
import { anAgent, type BuiltAgent } from '../builders/agents.js';
import { asRoot, type Client, type Reply } from '../http/actors.js';
import type { TestServer } from '../servers/server.js';
import type { DecidedLog, Known } from './decided-log.js';

export const delegate = (client: Client, toAgentId: string, capability: string, input: object, more: object = {}): Promise<Reply> =>
  client.post('/api/v1/routing/delegate', { toAgentId, task: { capability, input, ...more } });

type Granted = Readonly<Record<string, GrantTerms>>;

/** Tasks that agents and people give: done, asked about, refused because of another agent, cancelled, and over with an agent. */
export async function delegatedInFull(server: TestServer, story: DecidedLog): Promise<void> {
  const { organizationId, owner, admin, lead, member, teamId } = story;
  const root = asRoot(server);
  const agentWith = (granted: Granted): Promise<BuiltAgent> => {
    let building = anAgent(server).inOrganization(organizationId).having({ teamId, ownerId: member.id });
    for (const [capability, terms] of Object.entries(granted)) building = building.granted(capability, terms);
    return building.create();
  };
  const all: Granted = {
    'web.search': { hitlMode: 'auto' }, 'email.send': { hitlMode: 'auto' }, 'data.write': { hitlMode: 'auto' },
    'file.read': { hitlMode: 'notify' }, 'calendar.write': { hitlMode: 'auto' },
  };
  const strict: Granted = {
    ...all, 'email.send': { hitlMode: 'propose', hitlTimeoutSeconds: 600 },
    'data.write': { hitlMode: 'propose', quorum: { approvals: 2 } },
    'file.read': { hitlMode: 'auto', conditions: [{ when: 'input.to == "ann"', hitlMode: 'block' }] },
  };
  const [giver, doer, third] = await Promise.all([agentWith(strict), agentWith(all), agentWith(all)]);
  const given = async (by: Client, to: BuiltAgent, capability: string, input: object, more: object = {}) =>
    (await delegate(by, to.id, capability, input, more)).expect(201).text('task.id');
  const does = ({ client }: BuiltAgent, capability: string, input: object, taskId?: string) =>
    client.post('/api/v1/execute', { capability, input, ...(taskId === undefined ? {} : { context: { task_id: taskId } }) });
  const decide = ({ client }: Known, reply: Reply, word: string) =>
    client.post(`/api/v1/hitl/${reply.expect(202).text('hitlRequestId')}/${word}`, {}, word === 'approve' ? { query: { wait: 5 } } : {});

  const rates = await given(giver.client, doer, 'web.search', { q: 'rates' }, { description: 'for ann' });
  (await does(doer, 'web.search', { q: 'rates' }, rates)).expect(200);
  await given(giver.client, doer, 'web.search', { q: 'news' });
  (await does(doer, 'web.search', { q: 'news' })).expect(200);
  const parent = await given(giver.client, doer, 'calendar.write', { day: 1 });
  const part = await given(doer.client, third, 'web.search', { day: 1 }, { parentId: parent });
  (await does(third, 'web.search', { day: 1 }, part)).expect(200);
  (await does(doer, 'calendar.write', { day: 1 }, parent)).expect(200);

  const asked = async (capability: string, n: number) => does(doer, capability, { n }, await given(giver.client, doer, capability, { n }));
  (await decide(lead, await asked('email.send', 1), 'approve')).expect(200);
  (await decide(lead, await asked('email.send', 2), 'reject')).expect(200);
  const several = await asked('data.write', 3);
  (await decide(lead, several, 'approve')).expect(200);
  (await decide(admin, several, 'approve')).expect(200);
  const byPerson = await given(admin.client, giver, 'email.send', { n: 4 });
  const barred = await does(giver, 'email.send', { n: 4 }, byPerson);
  (await decide(admin, barred, 'approve')).expect(403);
  (await decide(owner, barred, 'approve')).expect(200);
  (await root.post(`/api/v1/tasks/${await given(admin.client, doer, 'web.search', { n: 5 })}/cancel`)).expect(200);

  await refused(server, { organizationId, giver, doer, third, agentWith, given, does, all });
  (await admin.client.put('/api/v1/secrets/crm-token', { value: 'a value of one line', origins: ['https://crm.example'] })).expect(201);
  (await admin.client.put('/api/v1/secrets/crm-token', { value: 'another value', origins: ['https://crm.example:8443'] })).expect(200);
  (await admin.client.put('/api/v1/secrets/old-token', { value: 'a value of one line', origins: ['https://old.example'] })).expect(201);
  (await admin.client.delete('/api/v1/secrets/old-token')).expect(204);
}

interface Parties {
  readonly organizationId: string;
  readonly giver: BuiltAgent;
  readonly doer: BuiltAgent;
  readonly third: BuiltAgent;
  readonly all: Granted;
  agentWith(granted: Granted): Promise<BuiltAgent>;
  given(by: Client, to: BuiltAgent, capability: string, input: object, more?: object): Promise<string>;
  does(by: BuiltAgent, capability: string, input: object, taskId?: string): Promise<Reply>;
}

/** What the doer may do and another agent of the chain may not, or not any more. */
async function refused(server: TestServer, { organizationId, giver, doer, third, all, agentWith, given, does }: Parties): Promise<void> {
  const root = asRoot(server);
  const n = 6;
  const condition = await given(giver.client, doer, 'file.read', { to: 'bob' });
  (await does(doer, 'file.read', { to: 'bob' }, condition)).expect(200);
  const stopped = await given(giver.client, doer, 'web.search', { n });
  const stop = (await root.post('/api/v1/stops', { scope: 'agent', id: giver.id, reason: 'a drill' })).expect(201);
  (await does(doer, 'web.search', { n }, stopped)).expect(403);
  (await root.delete(`/api/v1/stops/${stop.text('stop.id')}`)).expect(204);
  (await does(doer, 'web.search', { n }, stopped)).expect(200);
  const risky = await given(giver.client, doer, 'web.search', { n: 7 });
  (await root.patch(`/api/v1/agents/${giver.id}/risk-level`, { riskLevel: 'high' })).expect(200);
  (await does(doer, 'web.search', { n: 7 }, risky)).expect(200);
  const revoked = await given(giver.client, doer, 'calendar.write', { n });
  const listed = (await root.get(`/api/v1/agents/${giver.id}/capabilities`)).expect(200).list('grants');
  const { id } = (listed as { id: string; capability: string }[]).find(({ capability }) => capability === 'calendar.write')!;
  (await root.delete(`/api/v1/capabilities/grant/${id}`)).expect(204);
  (await does(doer, 'calendar.write', { n }, revoked)).expect(403);
  (await root.post(`/api/v1/agents/${giver.id}/deactivate`)).expect(200);
  (await root.post(`/api/v1/agents/${giver.id}/activate`)).expect(200);

  const [leaving, removed, moved] = [await agentWith(all), await agentWith(all), await agentWith(all)];
  const left = await given(leaving.client, third, 'web.search', { n: 8 });
  await given(doer.client, removed, 'web.search', { n });
  await given(doer.client, moved, 'web.search', { n });
  (await root.delete(`/api/v1/agents/${removed.id}`)).expect(204);
  const abroad = (await root.post('/api/v1/organizations', { name: 'Afar' })).expect(201).text('organization.id');
  (await root.post(`/api/v1/agents/${moved.id}/transfer`, { organizationId: abroad })).expect(200);
  (await root.post(`/api/v1/agents/${leaving.id}/transfer`, { organizationId: abroad })).expect(200);
  // Before the sweep has ended it.
  const statusOf = 'select status from tasks where organization_id = $1 and id = $2';
  const [task] = await server.sql<{ status: string }>(statusOf, [organizationId, left]);
  const reply = await does(third, 'web.search', { n: 8 }, left);
  if (task!.status === 'assigned' && reply.status !== 403) throw new Error(`a task of an agent that has left was answered ${reply.status}`);
}
