import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { teamEntriesOf } from '../../support/log/entries.js';
import { anAgent } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let root: Client;
let admin: BuiltPerson;
let ada: BuiltPerson;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
  admin = await aPerson(server, 'admin');
  ada = await aPerson(server, 'member');
});
afterAll(() => server.stop());

const pathOf = (id: string, rest = '') => `/api/v1/teams/${id}${rest}`;
const make = async (name = 'closing') => (await root.post('/api/v1/teams', { name })).expect(201).text('team.id');

describe('removing a team', () => {
  test('not while agents belong to it, in service or not; then with its grants and memberships', async () => {
    const id = await make();
    (await root.post(pathOf(id, '/members'), { userId: ada.id })).expect(201);
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => anAgent(server).having({ teamId: id }).create()));
    (await root.post(`/api/v1/agents/${second!.id}/deactivate`)).expect(200);
    (await root.delete(`/api/v1/agents/${third!.id}`)).expect(204);
    expect((await root.delete(pathOf(id))).expect(409, 'CONFLICT').text('detail')).toMatch(/^2 agents belong/);
    (await root.patch(`/api/v1/agents/${first!.id}`, { teamId: null })).expect(200);
    expect((await root.delete(pathOf(id))).expect(409, 'CONFLICT').text('detail')).toMatch(/^1 agent belongs/);
    (await root.delete(`/api/v1/agents/${second!.id}`)).expect(204);
    expect((await root.get(pathOf(id))).expect(200).number('team.memberCount')).toBe(1);

    const grantId = await aTeamGrant(id, 'web.search');
    expect((await admin.client.delete(pathOf(id))).expect(204).body).toBeUndefined();
    for (const gone of [await root.get(pathOf(id)), await root.delete(pathOf(id)), await root.patch(pathOf(id), { name: 'ghost' }),
      await root.post(pathOf(id, '/members'), { userId: ada.id }),
      await root.post('/api/v1/agents', { name: 'late', teamId: id })]) {
      gone.expect(404, 'NOT_FOUND');
    }
    expect(await server.sql('select user_id from team_members where team_id = $1', [id])).toEqual([]);
    const [grant] = await server.sql(
      'select revoked_at is null as active, revoked_by from capability_grants where id = $1', [grantId]);
    expect(grant).toEqual({ active: false, revoked_by: admin.id });
    const last = (await teamEntriesOf(server, id)).slice(-2);
    expect(last.map(({ event, agentId, capability, metadata }) => ({ event, agentId, capability, metadata })))
      .toEqual([
        { event: 'capability.revoked', capability: 'web.search',
          metadata: { grantId, version: 1, teamId: id, capability: 'web.search', reason: 'team_deleted' } },
        { event: 'admin.team_changed', metadata: { teamId: id, change: 'deleted' } },
      ]);
  });

  async function aTeamGrant(teamId: string, capability: string): Promise<string> {
    const made = await root.post('/api/v1/capabilities/grant', { teamId, capability, hitlMode: 'auto' });
    return made.expect(201).text('grant.id');
  }

  test('an agent that is joining at that moment keeps the team; one that comes later finds it gone', async () => {
    const agent = await anAgent(server).create();
    for (const [slow, wanted] of [
      ['agents', { removed: 409, joined: 200 }], ['team_members', { removed: 204, joined: 404 }],
    ] as const) {
      const id = await make();
      (await root.post(pathOf(id, '/members'), { userId: ada.id })).expect(201);
      await slowDown(slow);
      const join = () => root.patch(`/api/v1/agents/${agent.id}`, { teamId: id });
      const remove = () => root.delete(pathOf(id));
      const first = slow === 'agents' ? join() : remove();
      await inItsSleep();
      const second = slow === 'agents' ? remove() : join();
      const [joined, removed] = slow === 'agents' ? [await first, await second] : [await second, await first];
      await server.sql(`drop trigger test_slow on ${slow}`);
      expect({ removed: removed.status, joined: joined.status }).toEqual(wanted);
      expect(await server.sql('select id from teams where id = $1', [id])).toHaveLength(joined.status === 200 ? 1 : 0);
    }
  });

  /** Whoever writes this table holds everything it has locked for a while. */
  async function slowDown(table: string): Promise<void> {
    await server.sql(`create or replace function test_slow() returns trigger language plpgsql as
      $$ begin perform pg_sleep(1); return coalesce(new, old); end $$`);
    await server.sql(`create trigger test_slow before update or delete on ${table} for each row execute function test_slow()`);
  }

  async function inItsSleep(): Promise<void> {
    await eventually(async () => {
      const asleep = await server.sql(
        `select pid from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`);
      if (asleep.length === 0) throw new Error('nobody sleeps');
    });
  }

  test('joined or removed, never both, however they meet', async () => {
    for (let round = 0; round < 12; round++) {
      const id = await make();
      const agents = await Promise.all([0, 1].map(() => anAgent(server).create()));
      const [removed, ...joined] = await Promise.all([
        root.delete(pathOf(id)), ...agents.map((agent) => root.patch(`/api/v1/agents/${agent.id}`, { teamId: id })),
        root.post('/api/v1/agents', { name: 'new', teamId: id }),
      ]);
      const inIt = joined.filter(({ status }) => status < 300).length;
      expect({ round, removed: removed.status }).toEqual({ round, removed: inIt === 0 ? 204 : 409 });
      expect(joined.every(({ status }) => (removed.status === 204 ? status === 404 : status < 300))).toBe(true);
      const listed = (await root.get('/api/v1/agents', { query: { teamId: id } })).expect(200);
      expect(listed.number('total')).toBe(inIt);
    }
  });
});

test('the log verifies after all of it', async () => {
  expect((await root.get('/api/v1/audit/verify')).expect(200).body).toMatchObject({ valid: true, breaks: [] });
});
