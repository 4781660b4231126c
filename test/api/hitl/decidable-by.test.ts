import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { approveBy } from '../../support/builders/requests.js';
import {
  anOrganization, aPerson, aTeam, type BuiltPerson, closeAccount, type PersonTerms, type Role,
} from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let root: Client;
let organizationId: string;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
});

afterAll(() => server.stop());

beforeEach(async () => {
  organizationId = await anOrganization(server);
});

const person = (role: Role, terms: PersonTerms = {}): Promise<BuiltPerson> => aPerson(server, role, { organizationId, ...terms });
const agentOf = (members: object, hitlMode = 'propose'): Promise<BuiltAgent> =>
  anAgent(server).inOrganization(organizationId).having({ ...members }).granted('email.send', { hitlMode }).create();

async function asked({ client }: BuiltAgent, context?: object): Promise<string> {
  const call = { capability: 'email.send', ...(context ? { context } : {}) };
  return (await client.post('/api/v1/execute', call)).expect(202).text('hitlRequestId');
}

const shown = async (id: string, by: Client = root) => (await by.get(`/api/v1/hitl/${id}`)).expect(200).at('decidable_by');

test('counts who may decide at the level, as it stands and as people come and go, in both spellings', async () => {
  const [owner, lead, mate, admin] = [await person('member'), await person('member'), await person('member'), await person('admin')];
  await Promise.all([person('viewer'), person('member'), aPerson(server, 'owner')]);
  const teamId = await aTeam(server, organizationId, [{ userId: lead.id, role: 'lead' }, { userId: mate.id }]);
  const agent = await agentOf({ ownerId: owner.id, teamId });
  const id = await asked(agent);
  for (const by of [root, mate.client, agent.client]) expect(await shown(id, by)).toEqual({ count: 4, level: 0 });
  const camel = (await root.get(`/api/v1/hitl/${id}`, { query: { form: 'camel' } })).expect(200);
  expect(camel.at('decidableBy')).toEqual({ count: 4, level: 0 });
  const handedOn = (await mate.client.post(`/api/v1/hitl/${id}/escalate`, { reason: 'not mine' })).expect(200);
  expect(handedOn.at('decidable_by')).toEqual({ count: 2, level: 1 });
  await closeAccount(server, lead);
  expect(await shown(id)).toEqual({ count: 1, level: 1, admins_only: true });
  await closeAccount(server, admin);
  expect(await shown(id)).toEqual({ count: 0, level: 1 });
  (await root.post(`/api/v1/hitl/${id}/approve`)).expect(200);
  expect((await root.get(`/api/v1/hitl/${id}`)).body).not.toHaveProperty('decidable_by');
});

test('says that admins alone can answer, where nobody is nearer to the agent', async () => {
  await Promise.all([person('admin'), person('owner'), person('member')]);
  const id = await asked(await agentOf({}));
  expect(await shown(id)).toEqual({ count: 2, level: 0, admins_only: true });
  expect((await root.get(`/api/v1/hitl/${id}`, { query: { form: 'camel' } })).at('decidableBy'))
    .toEqual({ count: 2, level: 0, adminsOnly: true });
});

test('whoever is behind the action is not counted, and who is counted may approve it', async () => {
  const people = [await person('admin'), await person('admin'), await person('owner')];
  const agent = await agentOf({}, 'escalate');
  for (const [n, separation] of (['standard', 'strict'] as const).entries()) {
    await server.sql(
      'update organizations set separation_of_duties = $2, revision = revision + 1 where id = $1', [organizationId, separation]);
    const id = await asked(agent, { on_behalf_of: people[n]!.id });
    expect(await shown(id)).toEqual({ count: 2, level: 2, admins_only: true });
    (await approveBy(people[n]!, { id })).expect(403, 'SELF_APPROVAL');
    const others = people.filter((_, i) => i !== n);
    const answers = await Promise.all(others.map((by) => approveBy(by, { id })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  }
});

test('stands in the lists of queues, not in those of all requests', async () => {
  const [admin, mate] = [await person('admin'), await person('member')];
  const teamId = await aTeam(server, organizationId, [{ userId: mate.id }]);
  const [nearby, alone] = [await asked(await agentOf({ teamId })), await asked(await agentOf({}))];
  const listed = async (query: Readonly<Record<string, string>>) => {
    const found = (await admin.client.get('/api/v1/hitl', { query })).expect(200).list('requests') as Record<string, unknown>[];
    return Object.fromEntries(found.map((one) => [one['id'], one['decidableBy'] ?? one['decidable_by']]));
  };
  expect(await listed({ assignedTo: 'me' })).toEqual({ [alone]: { count: 1, level: 0, adminsOnly: true } });
  expect(await listed({ assignedTo: 'me', form: 'snake' })).toEqual({ [alone]: { count: 1, level: 0, admins_only: true } });
  expect(await listed({ assignedTo: mate.id })).toEqual({ [nearby]: { count: 2, level: 0 } });
  expect(await listed({})).toEqual({ [alone]: undefined, [nearby]: undefined });
});
