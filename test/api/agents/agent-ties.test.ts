import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../src/domain/ids.js';
import { asRoot, type Client } from '../../support/http/actors.js';
import { auditOf } from '../../support/log/entries.js';
import { anAgent } from '../../support/builders/agents.js';
import { anOrganization, aPerson, aTeam, type BuiltPerson, closeAccount } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const ABSENT = { ownerId: 'usr_00000000000000000000000000absent0000', teamId: 'team_00000000000000000000000000absent0000' };

let server: TestServer;
let root: Client;
let admin: BuiltPerson;
let organizationId: string;
let other: string;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
  admin = await aPerson(server, 'admin');
  ({ organizationId } = admin);
  other = await anOrganization(server);
});
afterAll(() => server.stop());

const pathOf = (id: string) => `/api/v1/agents/${id}`;
const read = async (id: string) => (await root.get(pathOf(id))).expect(200).at('agent') as Record<string, unknown>;
const listed = async (query: string) =>
  ((await root.get(`/api/v1/agents?${query}`)).expect(200).list('agents') as { id: string }[]).map(({ id }) => id);

describe('an agent with an owner and a team', () => {
  test('is registered with them, shows them and is found by them', async () => {
    const owner = await aPerson(server, 'viewer');
    const teamId = await aTeam(server, organizationId);
    const made = (await admin.client.post('/api/v1/agents', { name: 'owned', owner_id: owner.id, teamId })).expect(201);
    const id = made.text('agent.id');
    expect(made.at('agent')).toMatchObject({ ownerId: owner.id, teamId });
    expect(await read(id)).toEqual(made.at('agent'));
    const [registered] = await auditOf(server, id);
    expect(registered).toMatchObject({ event: 'agent.registered', actorId: admin.id, metadata: { ownerId: owner.id, teamId } });
    const beside = await anAgent(server).having({ teamId }).create();
    expect(await listed(`ownerId=${owner.id}`)).toEqual([id]);
    expect(await listed(`team_id=${teamId}`)).toEqual([beside.id, id]);
    expect(await listed(`ownerId=${owner.id}&teamId=${teamId}&status=active`)).toEqual([id]);
    expect(await listed(`ownerId=${ABSENT.ownerId}`)).toEqual([]);
    expect(await listed(`teamId=${ABSENT.teamId}`)).toEqual([]);
  });

  test('null is nobody when it is registered, and clears when it is changed', async () => {
    const owner = await aPerson(server, 'member');
    const teamId = await aTeam(server, organizationId);
    const { id, agent } = await anAgent(server).having({ ownerId: null, teamId: null }).create();
    for (const member of ['ownerId', 'teamId']) expect(agent).not.toHaveProperty(member);

    const set = (await root.patch(pathOf(id), { ownerId: owner.id, team_id: teamId })).expect(200);
    expect(set.at('agent')).toMatchObject({ ownerId: owner.id, teamId, name: agent.name });
    const renamed = (await root.patch(pathOf(id), { name: 'renamed' })).expect(200);
    expect(renamed.at('agent')).toMatchObject({ ownerId: owner.id, teamId });
    const half = (await root.patch(pathOf(id), { teamId: null })).expect(200);
    expect(half.at('agent')).not.toHaveProperty('teamId');
    expect(half.text('agent.ownerId')).toBe(owner.id);
    const cleared = (await root.patch(pathOf(id), { ownerId: null, description: null })).expect(200);
    expect(cleared.at('agent')).not.toHaveProperty('ownerId');
    expect(await read(id)).toEqual(cleared.at('agent'));

    const updates = (await auditOf(server, id)).filter(({ event }) => event === 'agent.updated').map(({ metadata }) => metadata);
    expect(updates).toEqual([
      { ownerId: owner.id, teamId }, { name: 'renamed' }, { cleared: ['teamId'] }, { cleared: ['description', 'ownerId'] },
    ]);
  });

  test('only of its own organization; whatever is not there is 404 in the same words, and nothing happens', async () => {
    const stranger = await aPerson(server, 'owner', { organizationId: other });
    const closed = await aPerson(server, 'member');
    await closeAccount(server, closed);
    const strangeTeam = await aTeam(server, other);
    const { id } = await anAgent(server).create();
    const before = await read(id);
    for (const [member, values] of [
      ['ownerId', [stranger.id, closed.id, 'x', 'root', strangeTeam]], ['teamId', [strangeTeam, 'x', stranger.id]],
    ] as const) {
      const absent = (await root.patch(pathOf(id), { [member]: ABSENT[member] })).expect(404, 'NOT_FOUND').text('detail');
      for (const value of values) {
        const unchanged = (await root.patch(pathOf(id), { [member]: value, name: 'half' })).expect(404, 'NOT_FOUND');
        expect(unchanged.text('detail')).toBe(absent);
        const refused = (await root.post('/api/v1/agents', { name: 'half made', [member]: value })).expect(404, 'NOT_FOUND');
        expect(refused.text('detail')).toBe(absent);
      }
    }
    expect(await read(id)).toEqual(before);
    expect(await server.sql(`select id from agents where name = 'half made'`)).toEqual([]);
    const there = { name: 'there', organizationId: other, ownerId: stranger.id, teamId: strangeTeam };
    expect((await root.post('/api/v1/agents', there)).expect(201).at('agent')).toMatchObject(there);
  });

  test('keeps the name of an owner whose account is closed', async () => {
    const owner = await aPerson(server, 'member');
    const { id } = await anAgent(server).having({ ownerId: owner.id }).create();
    await closeAccount(server, owner);
    expect((await root.patch(pathOf(id), { name: 'orphan' })).expect(200).text('agent.ownerId')).toBe(owner.id);
    expect(await listed(`ownerId=${owner.id}`)).toEqual([id]);
    (await root.patch(pathOf(id), { ownerId: owner.id })).expect(404, 'NOT_FOUND');
  });

  test('may do what its team may from the very next call on, and no longer than it belongs to it', async () => {
    const teamId = await aTeam(server, organizationId);
    await server.sql(
      `insert into capability_grants
         (organization_id, id, team_id, capability, hitl_mode, timeout_action, conditions, version, granted_at, granted_by)
       values ($1, $2, $3, 'web.search', 'auto', 'reject', '[]', 1, clock_timestamp(), 'root')`,
      [organizationId, newId('grt'), teamId],
    );
    const { id: agentId } = await anAgent(server).create();
    const call = () => root.post('/api/v1/execute', { agentId, capability: 'web.search' });
    for (let round = 0; round < 3; round++) {
      (await call()).expect(403, 'CAPABILITY_NOT_GRANTED');
      (await admin.client.patch(pathOf(agentId), { teamId })).expect(200);
      expect((await call()).expect(200).text('status')).toBe('executed');
      (await admin.client.patch(pathOf(agentId), { teamId: null })).expect(200);
    }
    (await call()).expect(403, 'CAPABILITY_NOT_GRANTED');
  });
});
