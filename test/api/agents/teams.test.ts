import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../src/domain/ids.js';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { teamEntriesOf } from '../../support/log/entries.js';
import { anAgent } from '../../support/builders/agents.js';
import { anOrganization, aPerson, type BuiltPerson, closeAccount } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const ABSENT_TEAM = 'team_00000000000000000000000000absent0000';
const ABSENT_USER = 'usr_00000000000000000000000000absent0000';

let server: TestServer;
let root: Client;
let admin: BuiltPerson;
let ada: BuiltPerson;
let elsewhere: BuiltPerson;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
  admin = await aPerson(server, 'admin');
  ada = await aPerson(server, 'member', { name: 'Ada', email: 'ada@example.test' });
  elsewhere = await aPerson(server, 'admin', { organizationId: await anOrganization(server) });
});
afterAll(() => server.stop());

const pathOf = (id: string, rest = '') => `/api/v1/teams/${id}${rest}`;
const make = async (body: unknown = { name: 'a team' }) => (await root.post('/api/v1/teams', body)).expect(201).text('team.id');
const read = async (id: string) => (await root.get(pathOf(id))).expect(200).at('team') as Record<string, unknown>;
const pointers = (refused: Reply) => (refused.list('errors') as { pointer: string }[]).map(({ pointer }) => pointer);

describe('a team', () => {
  test('is made without members, shown as it was made, changed and recorded', async () => {
    const made = (await admin.client.post('/api/v1/teams', { name: 'Einkauf 采购', description: 'Buys\nthings' })).expect(201);
    const team = made.at('team') as Record<string, unknown>;
    const id = String(team.id);
    expect(id).toMatch(/^team_[0-9a-z]{26,}$/);
    expect(team).toEqual({
      id, organizationId: admin.organizationId, name: 'Einkauf 采购', description: 'Buys\nthings', memberCount: 0, members: [],
      createdAt: team.createdAt, updatedAt: team.createdAt,
    });
    expect(await read(id)).toEqual(team);

    const changed = (await admin.client.patch(pathOf(id), { name: 'Purchasing' })).expect(200);
    expect(changed.at('team')).toMatchObject({ name: 'Purchasing', description: 'Buys\nthings', createdAt: team.createdAt });
    const cleared = (await root.patch(pathOf(id), { description: null })).expect(200);
    expect(cleared.at('team')).not.toHaveProperty('description');
    expect(await read(id)).toEqual(cleared.at('team'));

    const entries = await teamEntriesOf(server, id);
    expect(entries.map(({ event, actorId }) => [event, actorId])).toEqual([
      ['admin.team_changed', admin.id], ['admin.team_changed', admin.id], ['admin.team_changed', 'root'],
    ]);
    expect(entries.map(({ metadata }) => metadata)).toEqual([
      { teamId: id, change: 'created', name: 'Einkauf 采购', description: 'Buys\nthings' },
      { teamId: id, change: 'updated', name: 'Purchasing' },
      { teamId: id, change: 'updated', cleared: ['description'] },
    ]);
  });

  test('is made once for one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'a-team-once' };
    const first = (await root.post('/api/v1/teams', { name: 'once' }, { headers })).expect(201);
    const again = (await root.post('/api/v1/teams', { name: 'once' }, { headers })).expect(201);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    (await root.post('/api/v1/teams', { name: 'other' }, { headers })).expect(422, 'IDEMPOTENCY_KEY_REUSED');
    expect(await server.sql('select id from teams where name = $1', ['once'])).toHaveLength(1);
  });

  test.each<[string, unknown, string]>([
    ['no name', {}, '/name'], ['an empty name', { name: ' ' }, '/name'], ['a name of two lines', { name: 'a\nb' }, '/name'],
    ['a long name', { name: 'x'.repeat(201) }, '/name'], ['null for a name', { name: null }, '/name'],
    ['a long description', { name: 'x', description: 'x'.repeat(2_001) }, '/description'],
    ['an organization that is none', { name: 'x', organization_id: 5 }, '/organization_id'],
  ])('with %s is refused: %j', async (_, body, pointer) => {
    expect(pointers((await root.post('/api/v1/teams', body)).expect(400, 'VALIDATION_FAILED'))).toContain(pointer);
  });

  test('what may not be set is not', async () => {
    const sent = { name: 'bold', id: ABSENT_TEAM, memberCount: 9, members: [{ userId: ada.id }], createdAt: '2001-01-01' };
    (await root.post('/api/v1/teams', sent)).expect(400, 'VALIDATION_FAILED');
    const lenient = root.with({ prefer: 'handling=lenient' });
    const id = (await lenient.post('/api/v1/teams', sent)).expect(201).text('team.id');
    expect(id).not.toBe(ABSENT_TEAM);
    const before = await read(id);
    expect(before).toMatchObject({ memberCount: 0, members: [] });
    const after = (await lenient.patch(pathOf(id), { ...sent, organizationId: elsewhere.organizationId })).expect(200).at('team');
    expect(after).toEqual({ ...before, updatedAt: (after as typeof before).updatedAt });
  });

  test('the list is newest first and counts the members of each, without naming them', async () => {
    const ids = [await make({ name: 'one' }), await make({ name: 'two', description: 'second' }), await make({ name: 'three' })];
    (await root.post(pathOf(ids[1]!, '/members'), { userId: ada.id })).expect(201);
    const listed = (await root.get('/api/v1/teams', { query: { organizationId: admin.organizationId } })).expect(200);
    const teams = listed.list('teams') as { id: string; memberCount: number }[];
    expect(teams.slice(0, 3).map(({ id, memberCount }) => [id, memberCount])).toEqual([[ids[2], 0], [ids[1], 1], [ids[0], 0]]);
    expect(listed.number('total')).toBe(teams.length);
    for (const team of teams) expect(team).not.toHaveProperty('members');
    const paged = (await root.get('/api/v1/teams', { query: { limit: 1 } })).expect(200);
    expect(paged.list('teams')).toHaveLength(1);
    const next = (await root.get('/api/v1/teams', { query: { limit: 1, cursor: paged.text('nextCursor') } })).expect(200);
    expect(next.text('teams.0.id') < paged.text('teams.0.id')).toBe(true);
  });
});

describe('members', () => {
  test('join once; again says the role anew, and since when they belong stays', async () => {
    const id = await make();
    const joined = (await admin.client.post(pathOf(id, '/members'), { user_id: ada.id })).expect(201);
    const since = joined.text('member.since');
    expect(joined.body).toEqual({ member: { userId: ada.id, role: 'member', since } });
    const roleSince = () => server.sql<{ since: Date; role_since: Date }>(
      'select since, role_since from team_members where team_id = $1', [id]).then(([row]) => row!);
    const first = await roleSince();
    expect(first.role_since).toEqual(first.since);

    const same = (await admin.client.post(pathOf(id, '/members'), { userId: ada.id, role: 'member' })).expect(200);
    expect(same.body).toEqual(joined.body);
    expect(await roleSince()).toEqual(first);

    const raised = (await admin.client.post(pathOf(id, '/members'), { userId: ada.id, role: 'lead' })).expect(200);
    expect(raised.body).toEqual({ member: { userId: ada.id, role: 'lead', since } });
    const second = await roleSince();
    expect(second.since).toEqual(first.since);
    expect(second.role_since.getTime()).toBeGreaterThan(first.role_since.getTime());

    (await root.post(pathOf(id, '/members'), { userId: admin.id })).expect(201);
    const team = await read(id);
    expect(team).toMatchObject({ memberCount: 2, members: [
      { userId: ada.id, name: 'Ada', email: 'ada@example.test', role: 'lead', since },
      { userId: admin.id, role: 'member' },
    ] });
    const changes = (await teamEntriesOf(server, id)).slice(1).map(({ metadata }) => metadata);
    expect(changes).toEqual([
      { teamId: id, change: 'member_added', userId: ada.id, role: 'member' },
      { teamId: id, change: 'member_updated', userId: ada.id, role: 'member' },
      { teamId: id, change: 'member_updated', userId: ada.id, role: 'lead' },
      { teamId: id, change: 'member_added', userId: admin.id, role: 'member' },
    ]);
  });

  test('are facts that all agents of the organization share: each change raises its revision, a read does not', async () => {
    const revision = async () => {
      const [row] = await server.sql<{ revision: string }>('select revision from organizations where id = $1', [admin.organizationId]);
      return Number(row!.revision);
    };
    const id = await make();
    let before = await revision();
    for (const change of [
      () => root.post('/api/v1/teams', { name: 'another' }), () => root.patch(pathOf(id), { name: 'renamed' }),
      () => root.post(pathOf(id, '/members'), { userId: ada.id }),
      () => root.post(pathOf(id, '/members'), { userId: ada.id, role: 'lead' }),
      () => root.delete(pathOf(id, `/members/${ada.id}`)), () => root.delete(pathOf(id)),
    ]) {
      expect((await change()).status).toBeLessThan(300);
      const after = await revision();
      expect(after).toBeGreaterThan(before);
      before = after;
      (await root.get('/api/v1/teams')).expect(200);
      expect(await revision()).toBe(after);
    }
  });

  test('leave', async () => {
    const id = await make();
    (await root.post(pathOf(id, '/members'), { userId: ada.id })).expect(201);
    expect((await admin.client.delete(pathOf(id, `/members/${ada.id}`))).expect(204).body).toBeUndefined();
    expect(await read(id)).toMatchObject({ memberCount: 0, members: [] });
    (await admin.client.delete(pathOf(id, `/members/${ada.id}`))).expect(404, 'NOT_FOUND');
    const last = (await teamEntriesOf(server, id)).at(-1);
    expect(last).toMatchObject({ actorId: admin.id, metadata: { change: 'member_removed', userId: ada.id } });
    (await root.post(pathOf(id, '/members'), { userId: ada.id })).expect(201);
  });

  test('are added once for one Idempotency-Key, and once when many add them', async () => {
    const id = await make();
    const headers = { 'idempotency-key': 'a-member-once' };
    const first = (await root.post(pathOf(id, '/members'), { userId: ada.id }, { headers })).expect(201);
    const again = (await root.post(pathOf(id, '/members'), { userId: ada.id }, { headers })).expect(201);
    expect(again.body).toEqual(first.body);
    const other = await make();
    const added = await Promise.all(Array.from({ length: 5 }, () => root.post(pathOf(other, '/members'), { userId: ada.id })));
    expect(added.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201]);
    expect(await read(other)).toMatchObject({ memberCount: 1 });
  });

  test('are people of that organization with an open account; anybody else is nobody, in the same words', async () => {
    const id = await make();
    const closed = await aPerson(server, 'member');
    await closeAccount(server, closed);
    const absent = (await root.post(pathOf(id, '/members'), { userId: ABSENT_USER })).expect(404, 'NOT_FOUND');
    for (const userId of [elsewhere.id, closed.id, 'x', 'root', admin.email]) {
      const refused = (await root.post(pathOf(id, '/members'), { userId })).expect(404, 'NOT_FOUND');
      expect(refused.text('detail')).toBe(absent.text('detail'));
    }
    for (const body of [{}, { userId: '' }, { userId: null }, { userId: ada.id, role: 'owner' }, { userId: ada.id, role: null }]) {
      (await root.post(pathOf(id, '/members'), body)).expect(400, 'VALIDATION_FAILED');
    }
    expect(await read(id)).toMatchObject({ memberCount: 0 });
  });

  test('whose account is closed belong to nothing any more', async () => {
    const leaving = await aPerson(server, 'member');
    const id = await make();
    for (const { id: userId } of [leaving, ada]) (await root.post(pathOf(id, '/members'), { userId })).expect(201);
    await closeAccount(server, leaving);
    const team = await read(id);
    expect(team.memberCount).toBe(1);
    expect((team.members as { userId: string }[]).map(({ userId }) => userId)).toEqual([ada.id]);
    const listed = (await root.get('/api/v1/teams')).list('teams') as { id: string; memberCount: number }[];
    expect(listed.find((one) => one.id === id)?.memberCount).toBe(1);
    (await root.delete(pathOf(id, `/members/${leaving.id}`))).expect(404, 'NOT_FOUND');
  });
});

describe('who may', () => {
  test('everybody of the organization reads; admins and owners write; agents neither', async () => {
    const id = await make();
    (await root.post(pathOf(id, '/members'), { userId: ada.id })).expect(201);
    for (const role of ['viewer', 'member'] as const) {
      const { client } = await aPerson(server, role);
      (await client.get('/api/v1/teams')).expect(200);
      (await client.get(pathOf(id))).expect(200);
      for (const refused of await writes(client, id)) refused.expect(403, 'FORBIDDEN');
    }
    const agent = await anAgent(server).create();
    const reads = [await agent.client.get('/api/v1/teams'), await agent.client.get(pathOf(id))];
    for (const refused of [...reads, ...await writes(agent.client, id)]) refused.expect(403, 'FORBIDDEN');
    expect(await read(id)).toMatchObject({ name: 'a team', memberCount: 1 });
    const owner = await aPerson(server, 'owner');
    expect((await writes(owner.client, id)).map(({ status }) => status)).toEqual([201, 200, 200, 204, 204]);
  });

  const writes = async (client: Client, id: string) => [
    await client.post('/api/v1/teams', { name: 'another' }), await client.patch(pathOf(id), { name: 'renamed' }),
    await client.post(pathOf(id, '/members'), { userId: ada.id, role: 'lead' }),
    await client.delete(pathOf(id, `/members/${ada.id}`)), await client.delete(pathOf(id)),
  ];

  test('another organization\'s team is not there', async () => {
    const id = await make();
    (await root.post(pathOf(id, '/members'), { userId: ada.id })).expect(201);
    const before = await read(id);
    const [, ...changes] = await writes(elsewhere.client, id);
    for (const answer of [await elsewhere.client.get(pathOf(id)), ...changes]) answer.expect(404, 'NOT_FOUND');
    expect(await read(id)).toEqual(before);
    const listed = (await elsewhere.client.get('/api/v1/teams')).expect(200).list('teams') as { organizationId: string }[];
    expect(new Set(listed.map(({ organizationId }) => organizationId))).toEqual(new Set([elsewhere.organizationId]));
    const foreign = (await elsewhere.client.get(`/api/v1/teams?organizationId=${admin.organizationId}`)).expect(200);
    expect(foreign.body).toEqual({ teams: [], total: 0 });
    (await elsewhere.client.post('/api/v1/teams', { name: 'x', organizationId: admin.organizationId })).expect(404, 'NOT_FOUND');
    for (const absent of [ABSENT_TEAM, 'team_', 'x', ada.id]) (await root.get(pathOf(absent))).expect(404, 'NOT_FOUND');
  });

  test('root makes one anywhere, the owner of a tenant in each of its organizations; members stay in theirs', async () => {
    const tenantId = newId('ten');
    const [home, second] = [await anOrganization(server, { tenantId }), await anOrganization(server, { tenantId })];
    const owner = await aPerson(server, 'owner', { organizationId: home });
    for (const client of [root, owner.client]) {
      const made = (await client.post('/api/v1/teams', { name: 'there', organizationId: second })).expect(201);
      expect(made.text('team.organizationId')).toBe(second);
      (await client.post(pathOf(made.text('team.id'), '/members'), { userId: owner.id })).expect(404, 'NOT_FOUND');
    }
    expect((await owner.client.post('/api/v1/teams', { name: 'here' })).expect(201).text('team.organizationId')).toBe(home);
    expect((await owner.client.get('/api/v1/teams')).expect(200).number('total')).toBe(3);
    (await root.post('/api/v1/teams', { name: 'x', organizationId: 'org_none' })).expect(404, 'NOT_FOUND');
  });
});

test('the log verifies after all of it', async () => {
  expect((await root.get('/api/v1/audit/verify')).expect(200).body).toMatchObject({ valid: true, breaks: [] });
});
