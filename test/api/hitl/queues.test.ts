import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { newId } from '../../../src/domain/ids.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { anOrganization, aPerson, aTeam, closeAccount, type BuiltPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

// Who is in which queue under all the rules is compared with these rules in test/long/http/queue-rules.test.ts; here is what a
// reviewer sees of it.

let server: TestServer;
let organizationId: string;
let admin: BuiltPerson;
let lead: BuiltPerson;
let member: BuiltPerson;
let viewer: BuiltPerson;
let agent: BuiltAgent;

beforeAll(async () => {
  server = await startServer();
  organizationId = await anOrganization(server);
  [admin, lead, member, viewer] = await Promise.all(
    (['admin', 'member', 'member', 'viewer'] as const).map((role) => aPerson(server, role, { organizationId }))) as
    [BuiltPerson, BuiltPerson, BuiltPerson, BuiltPerson];
  const teamId = await aTeam(server, organizationId, [{ userId: member.id }, { userId: lead.id, role: 'lead' }]);
  agent = await anAgent(server).inOrganization(organizationId).granted('email.send', { hitlMode: 'propose' }).create();
  await server.sql('update agents set team_id = $2 where id = $1', [agent.id, teamId]);
  await server.sql('update audit_heads set revision = revision + 1 where chain = $1', [agent.id]);
});

afterAll(() => server.stop());

async function asked(of = agent, context?: Readonly<Record<string, string>>): Promise<string> {
  const call = { capability: 'email.send', ...(context ? { context } : {}) };
  return (await of.client.post('/api/v1/execute', call)).expect(202).text('hitlRequestId');
}

async function queue(by: Client, query: Readonly<Record<string, string | number>> = { assignedTo: 'me' }): Promise<string[]> {
  const reply = (await by.get('/api/v1/hitl', { query })).expect(200);
  return (reply.list('requests') as { id: string }[]).map(({ id }) => id);
}

/** In whose queue it stands. */
async function standsWith(id: string): Promise<string[]> {
  const found = await Promise.all(Object.entries({ admin, lead, member }).map(async ([name, { client }]) =>
    ((await queue(client)).includes(id) ? [name] : [])));
  return found.flat();
}

test('a request goes from queue to queue as it is escalated, and leaves them when it is decided', async () => {
  const id = await asked();
  expect(await standsWith(id)).toEqual(['lead', 'member']);
  (await member.client.post(`/api/v1/hitl/${id}/escalate`, { reason: 'not mine' })).expect(200);
  expect(await standsWith(id)).toEqual(['lead']);
  (await lead.client.post(`/api/v1/hitl/${id}/escalate`, { reason: 'nor mine' })).expect(200);
  expect(await standsWith(id)).toEqual(['admin']);
  (await admin.client.post(`/api/v1/hitl/${id}/reject`)).expect(200);
  expect(await standsWith(id)).toEqual([]);
});

test('handed to somebody, it stands with nobody else, until they may no longer approve it', async () => {
  const second = await aPerson(server, 'admin', { organizationId });
  const id = await asked();
  (await member.client.post(`/api/v1/hitl/${id}/escalate`, { reason: 'for you', escalateTo: second.id })).expect(200);
  expect(await standsWith(id)).toEqual([]);
  expect(await queue(second.client)).toContain(id);
  expect(await queue(admin.client, { escalatedTo: second.id })).toEqual([id]);
  await closeAccount(server, second);
  expect(await standsWith(id)).toEqual(['lead']);
});

test('where a level has nobody, the next one sees it and its level stays', async () => {
  const alone = await anAgent(server).inOrganization(organizationId).granted('email.send', { hitlMode: 'propose' }).create();
  const id = await asked(alone);
  expect(await standsWith(id)).toEqual(['admin']);
  expect(await queue(admin.client, { assignedTo: 'me', level: 0 })).toContain(id);
  expect(await queue(admin.client, { assignedTo: 'me', level: 2 })).not.toContain(id);
});

test('whoever may not approve it does not have it in their queue', async () => {
  const id = await asked(agent, { on_behalf_of: lead.id });
  await server.sql('update hitl_requests set escalation_level = 0 where id = $1', [id]);
  expect(await standsWith(id)).toEqual(['member']);
});

test('everybody may ask for anybody\'s queue; nobody elsewhere has one here', async () => {
  const id = await asked();
  for (const { client } of [admin, lead, viewer]) expect(await queue(client, { assigned_to: member.id })).toContain(id);
  expect(await queue(viewer.client)).toEqual([]);
  expect(await queue(asRoot(server), { assignedTo: member.id })).toContain(id);
  const stranger = await aPerson(server, 'owner', { organizationId: await anOrganization(server) });
  expect(await queue(stranger.client)).toEqual([]);
  expect(await queue(stranger.client, { assignedTo: member.id })).toEqual([]);
  expect(await queue(admin.client, { assignedTo: stranger.id })).toEqual([]);
  expect(await queue(admin.client, { assignedTo: newId('usr') })).toEqual([]);
  for (const assignedTo of [member.email, member.email.toUpperCase()]) expect(await queue(admin.client, { assignedTo })).toContain(id);
  for (const nobody of ['usr_nobody', 'bob', 'nobody@example.test', stranger.email]) {
    const refused = (await admin.client.get('/api/v1/hitl', { query: { assignedTo: nobody } })).expect(400, 'VALIDATION_FAILED');
    expect(refused.at('errors')).toMatchObject([{ pointer: '?assignedTo', message: expect.stringMatching(/e-mail address/) }]);
  }
});

test('me is nobody for root and for an agent', async () => {
  for (const client of [asRoot(server), agent.client]) {
    const refused = (await client.get('/api/v1/hitl?assignedTo=me')).expect(400, 'VALIDATION_FAILED');
    expect(refused.at('errors')).toMatchObject([{ pointer: '?assignedTo' }]);
  }
  (await agent.client.get(`/api/v1/hitl?assignedTo=${member.id}`)).expect(403, 'FORBIDDEN');
});

test('pages of a queue, with its exact total, and the other filters', async () => {
  const ids = await Promise.all(Array.from({ length: 5 }, () => asked()));
  const all = await queue(member.client, { assignedTo: 'me', limit: 100 });
  expect(all).toEqual(expect.arrayContaining(ids));
  const seen: string[] = [];
  for (let cursor: string | undefined, page = 0; page < 20; page++) {
    const query = { assignedTo: 'me', limit: 2, ...(cursor ? { cursor } : {}) };
    const reply = (await member.client.get('/api/v1/hitl', { query })).expect(200);
    expect(reply.at('total')).toBe(all.length);
    seen.push(...(reply.list('requests') as { id: string }[]).map((one) => one.id));
    cursor = (reply.body as { nextCursor?: string }).nextCursor;
    if (!cursor) break;
  }
  expect(seen).toEqual(all);
  expect(await queue(member.client, { assignedTo: 'me', agentId: agent.id, limit: 100 })).toEqual(all);
  expect(await queue(member.client, { assignedTo: 'me', capability: 'web.post' })).toEqual([]);
  expect(await queue(member.client, { assignedTo: 'me', status: 'approved' })).toEqual([]);
});
