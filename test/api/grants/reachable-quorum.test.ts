import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import {
  anOrganization, aPerson, aTeam, type BuiltPerson, closeAccount, type PersonTerms, type Role,
} from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const CAPABILITY = 'email.send';

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
const agentOf = (members: object = {}): Promise<BuiltAgent> =>
  anAgent(server).inOrganization(organizationId).having({ ...members }).create();
const grant = (agent: BuiltAgent, quorum: object | null, terms: object = {}): Promise<Reply> =>
  root.post(`/api/v1/agents/${agent.id}/capabilities`, { capability: CAPABILITY, hitlMode: 'propose', ...terms, quorum });
const configure = (agent: BuiltAgent, terms: object): Promise<Reply> =>
  root.patch(`/api/v1/agents/${agent.id}/capabilities/${CAPABILITY}`, terms);

/** How many distinct people could approve, root besides, as the refusal of ten says. */
async function possible(agent: BuiltAgent, terms: object = {}): Promise<number> {
  const refused = (await grant(agent, { approvals: 10 }, terms)).expect(422, 'TARGET_NOT_ELIGIBLE');
  expect(refused.list('errors')).toMatchObject([{ pointer: '/quorum/approvals' }]);
  const [, needed, could] = /(\d+) have to approve and (\d+) could/.exec(refused.text('detail'))!;
  expect(needed).toBe('10');
  return Number(could);
}

describe('as many as there are people who could approve, and root', () => {
  test('one admin and root are two, and no third: on every way to grant', async () => {
    await person('admin');
    const [agent, teamId] = [await agentOf(), await aTeam(server, organizationId)];
    const [two, three] = [{ approvals: 2 }, { approvals: 3 }];
    const terms = { capability: CAPABILITY, hitlMode: 'propose' };
    const ways: [string, string, boolean, (quorum: object) => Promise<Reply>][] = [
      ['to an agent', '', true, (quorum) => grant(agent, quorum)],
      ['again', '', false, (quorum) => grant(agent, quorum)],
      ['by PATCH', '', false, (quorum) => configure(agent, { quorum })],
      ['by name of the agent', '', false, (quorum) => root.post('/api/v1/capabilities/grant', { agentId: agent.id, ...terms, quorum })],
      ['to a team', '', true, (quorum) => root.post('/api/v1/capabilities/grant', { teamId, ...terms, quorum })],
      ['where an agent is registered', '/grants/1', true, (quorum) => root.post('/api/v1/agents', {
        name: 'new', organizationId, grants: [{ capability: 'web.search' }, { ...terms, quorum }],
      })],
    ];
    for (const [way, pointer, isAnew, granting] of ways) {
      const refused = (await granting(three)).expect(422, 'TARGET_NOT_ELIGIBLE');
      expect([way, refused.at('errors')]).toEqual([way, [{
        pointer: `${pointer}/quorum/approvals`, message: 'must be at most 2: so many could approve',
      }]]);
      (await granting(two)).expect(isAnew ? 201 : 200);
    }
    expect((await root.get(`/api/v1/agents/${agent.id}/capabilities`)).list('grants')).toMatchObject([{ quorum: two }]);
  });

  test('where there is nobody but root, no quorum', async () => {
    expect(await possible(await agentOf())).toBe(1);
    await Promise.all([person('viewer'), person('member'), closeAccount(server, await person('admin'))]);
    expect(await possible(await agentOf())).toBe(1);
  });

  test('of the agent\'s owner and team where it proposes; of admins and owners where it escalates', async () => {
    const [owner, lead, mate] = [await person('member'), await person('member'), await person('member')];
    await Promise.all([person('admin'), person('owner'), person('member')]);
    const teamId = await aTeam(server, organizationId, [{ userId: lead.id, role: 'lead' }, { userId: mate.id }]);
    const agent = await agentOf({ ownerId: owner.id, teamId });
    expect(await possible(agent)).toBe(6);
    expect(await possible(await agentOf({ teamId }))).toBe(5);
    expect(await possible(await agentOf())).toBe(3);
    expect(await possible(agent, { hitlMode: 'escalate' })).toBe(3);
    expect(await possible(agent, { hitlMode: 'auto' })).toBe(6);
    // Of a team's grant: whoever may approve for each of its agents.
    const shared = { teamId, capability: CAPABILITY, hitlMode: 'propose', quorum: { approvals: 6 } };
    (await root.post('/api/v1/capabilities/grant', shared)).expect(422, 'TARGET_NOT_ELIGIBLE');
    (await root.post('/api/v1/capabilities/grant', { ...shared, quorum: { approvals: 5 } })).expect(201);
  });

  test('whoever was vouched for is one person with their voucher', async () => {
    const admin = await person('admin');
    for (let n = 0; n < 3; n++) await person('admin', { vouchedBy: admin.id });
    expect(await possible(await agentOf())).toBe(2);
    await person('owner', { vouchedBy: 'root' });
    expect(await possible(await agentOf())).toBe(3);
  });

  test('an owner of the tenant counts in each of its organizations, an admin of another one does not', async () => {
    const tenantId = 'ten_00000000000000000000000000000001';
    organizationId = await anOrganization(server, { tenantId });
    const other = await anOrganization(server, { tenantId });
    await Promise.all([person('owner', { organizationId: other }), person('admin', { organizationId: other })]);
    expect(await possible(await agentOf())).toBe(2);
  });

  test('under strict separation of duties not the agent\'s owner, nor who registered it', async () => {
    const [registrant, owner] = [await person('admin'), await person('admin')];
    await Promise.all([person('admin'), person('admin')]);
    const made = (await registrant.client.post('/api/v1/agents', { name: 'theirs', ownerId: owner.id })).expect(201);
    const agent = { id: made.text('agent.id') } as BuiltAgent;
    expect(await possible(agent)).toBe(5);
    await server.sql(`update organizations set separation_of_duties = 'strict', revision = revision + 1 where id = $1`, [organizationId]);
    expect(await possible(agent)).toBe(3);
  });
});

describe('groups', () => {
  test.each<[string, () => Promise<object>]>([
    ['a team without members', async () => ({ teamId: await aTeam(server, organizationId) })],
    ['a team that is not there', () => Promise.resolve({ teamId: 'team_none' })],
    ['a team of another organization', async () => {
      const elsewhere = await anOrganization(server);
      const { id } = await aPerson(server, 'admin', { organizationId: elsewhere });
      return { teamId: await aTeam(server, elsewhere, [{ userId: id }]) };
    }],
    ['a team whose members may not approve for the agent', async () =>
      ({ teamId: await aTeam(server, organizationId, [{ userId: (await person('member')).id }]) })],
    ['a team whose members have left', async () => {
      const gone = await person('admin');
      const teamId = await aTeam(server, organizationId, [{ userId: gone.id }]);
      await closeAccount(server, gone);
      return { teamId };
    }],
    ['a role that nobody has', () => Promise.resolve({ role: 'owner' })],
  ])('%s: 422, at the group', async (_, group) => {
    const admin = await person('admin');
    await person('admin');
    const there = await aTeam(server, organizationId, [{ userId: admin.id }]);
    const agent = await agentOf();
    const wanted = await group();
    const refused = (await grant(agent, { approvals: 2, groups: [{ role: 'admin' }, { teamId: there }, wanted] }))
      .expect(422, 'TARGET_NOT_ELIGIBLE');
    expect(refused.list('errors')).toMatchObject([{ pointer: `/quorum/groups/2/${Object.keys(wanted)[0]!}` }]);
    (await grant(agent, { approvals: 2, groups: [{ role: 'admin' }, { teamId: there }] })).expect(201);
  });
});

describe('a grant whose people have left', () => {
  test('can be changed otherwise and blocked; not given approvers that cannot bring its quorum together', async () => {
    const [first, second] = [await person('admin'), await person('member')];
    const agent = await agentOf({ ownerId: second.id });
    (await grant(agent, { approvals: 3 })).expect(201);
    (await configure(agent, { hitlMode: 'escalate' })).expect(422, 'TARGET_NOT_ELIGIBLE');
    await closeAccount(server, first);
    (await configure(agent, { hitlTimeoutSeconds: 90 })).expect(200);
    (await root.post(`/api/v1/agents/${agent.id}/capabilities`, { capability: CAPABILITY, hitlMode: 'propose' })).expect(200);
    (await configure(agent, { quorum: { approvals: 3 } })).expect(422, 'TARGET_NOT_ELIGIBLE');
    (await configure(agent, { hitlMode: 'block' })).expect(200);
    (await configure(agent, { hitlMode: 'propose' })).expect(422, 'TARGET_NOT_ELIGIBLE');
    (await configure(agent, { hitlMode: 'propose', quorum: { approvals: 2 } })).expect(200);
    (await configure(agent, { quorum: null })).expect(200);
  });
});
