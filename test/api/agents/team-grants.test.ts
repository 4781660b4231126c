import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asAgent, asRoot, type Client, type Reply } from '../../support/http/actors.js';
import type { AuditEntry } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { execute, moveToTeam, teamMates } from '../../support/builders/counting-scenario.js';
import { anOrganization, aPerson, aTeam, firstOrganization } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let replica: TestServer;
let root: Client;
let organization: string;

beforeAll(async () => {
  server = await startServer();
  replica = await startServer({ replicaOf: server });
  root = asRoot(server);
  organization = await firstOrganization(server);
});
afterAll(async () => {
  await replica.stop();
  await server.stop();
});

const share = (teamId: string, capability: string, terms: object = {}): Promise<Reply> =>
  root.post('/api/v1/capabilities/grant', { teamId, capability, hitlMode: 'auto', ...terms });
const give = async ({ id }: BuiltAgent, terms: object): Promise<Reply> =>
  (await root.post('/api/v1/capabilities/grant', { agentId: id, capability: 'web.search', ...terms })).expect(201);
const run = (client: Client, capability: string): Promise<Reply> => client.post('/api/v1/execute', { capability });
const onReplica = ({ token }: BuiltAgent): Client => asAgent(replica, token);
const capabilitiesOf = async ({ id }: BuiltAgent) => (await root.get(`/api/v1/agents/${id}`)).expect(200).at('agent.capabilities');
const heldBy = async ({ id }: BuiltAgent) =>
  (await root.get(`/api/v1/agents/${id}/capabilities`)).expect(200).list('grants') as Record<string, unknown>[];

describe('a grant of a team', () => {
  test('shows the team and no agent, and granting again keeps its id', async () => {
    const teamId = await aTeam(server, organization);
    const made = (await share(teamId, 'web.search', { hitlMode: 'on_risk', hitl_timeout_seconds: 60 })).expect(201);
    const grant = made.at('grant') as Record<string, unknown>;
    expect(grant).toMatchObject({
      teamId, capability: 'web.search', hitlMode: 'on_risk', effectiveMode: 'auto', version: 1, grantedBy: 'root', hitl_timeout_seconds: 60,
    });
    expect(grant).not.toHaveProperty('agentId');
    const again = (await share(teamId, 'web.search', { hitlMode: 'auto' })).expect(200);
    expect(again.at('grant')).toMatchObject({ id: grant.id, teamId, version: 2, hitlMode: 'auto', hitl_timeout_seconds: 60 });
  });

  test('is held by each agent of it: in its answer, in lists, in its tokens, and at the gate', async () => {
    const teamId = await aTeam(server, organization);
    const grantId = (await share(teamId, 'web.search', { hitlMode: 'on_risk' })).text('grant.id');
    const [one] = await teamMates(server, teamId, 1);
    const risky = await anAgent(server).risk('high').create();
    await moveToTeam(server, [risky.id], teamId);
    expect(await capabilitiesOf(one!)).toEqual(['web.search']);
    expect(await heldBy(one!)).toMatchObject([{ id: grantId, teamId, effectiveMode: 'auto' }]);
    expect(await heldBy(risky)).toMatchObject([{ id: grantId, teamId, effectiveMode: 'propose' }]);
    expect((await run(one!.client, 'web.search')).expect(200).at('status')).toBe('executed');
    expect((await run(risky.client, 'web.search')).expect(403, 'CAPABILITY_NOT_IN_TOKEN').text('detail')).toMatch(/refresh/i);
    const listed = (await root.get('/api/v1/agents')).list('agents') as { id: string; capabilities: string[] }[];
    expect(listed.find(({ id }) => id === risky.id)!.capabilities).toEqual(['web.search']);
  });

  test('reaches a token at its next refresh, once it is acknowledged', async () => {
    const teamId = await aTeam(server, organization);
    const agent = await anAgent(server).granted('file.read').create();
    await moveToTeam(server, [agent.id], teamId);
    (await share(teamId, 'web.search')).expect(201);
    const recorded = (await agent.client.post(`/api/v1/agents/${agent.id}/token/refresh`)).expect(409, 'CAPABILITIES_CHANGED');
    expect(recorded.at('currentCapabilities')).toEqual(['file.read', 'web.search']);
    const fresh = await agent.client.post(`/api/v1/agents/${agent.id}/token/refresh`, { capabilities: recorded.at('currentCapabilities') });
    expect((await run(asAgent(server, fresh.expect(200).text('token')), 'web.search')).expect(200).at('status')).toBe('executed');
  });

  test('gives way to an agent\'s own, as long as that holds', async () => {
    const teamId = await aTeam(server, organization);
    (await share(teamId, 'web.search')).expect(201);
    const [agent] = await teamMates(server, teamId, 1);
    const own = await give(agent!, { hitlMode: 'block' });
    expect(await heldBy(agent!)).toMatchObject([{ agentId: agent!.id, effectiveMode: 'block' }]);
    expect(await capabilitiesOf(agent!)).toEqual(['web.search']);
    expect((await run(agent!.client, 'web.search')).expect(200).at('status')).toBe('blocked');
    (await root.delete(`/api/v1/capabilities/grant/${own.text('grant.id')}`)).expect(204);
    expect(await heldBy(agent!)).toMatchObject([{ teamId }]);
    expect((await run(agent!.client, 'web.search')).expect(200).at('status')).toBe('executed');
  });

  test('stands in for an own one that has run out', async () => {
    const teamId = await aTeam(server, organization);
    (await share(teamId, 'web.search')).expect(201);
    const [agent] = await teamMates(server, teamId, 1);
    const expiresAt = new Date(Date.now() - 60_000).toISOString();
    await give(agent!, { hitlMode: 'block', expiresAt });
    expect(await heldBy(agent!)).toMatchObject([{ teamId, effectiveMode: 'auto' }]);
    expect((await run(agent!.client, 'web.search')).expect(200).at('status')).toBe('executed');
  });

  test('is changed by granting it again, and not at one of its agents', async () => {
    const teamId = await aTeam(server, organization);
    (await share(teamId, 'web.search')).expect(201);
    const [agent] = await teamMates(server, teamId, 1);
    const path = `/api/v1/agents/${agent!.id}/capabilities`;
    expect((await root.patch(`${path}/web.search`, { hitlMode: 'block' })).expect(404, 'NOT_FOUND').text('detail')).toMatch(/team/);
    expect((await root.patch(`${path}/file.read`, { hitlMode: 'block' })).expect(404, 'NOT_FOUND').text('detail')).not.toMatch(/team/);
    (await share(teamId, 'web.search', { hitlMode: 'block' })).expect(200);
    expect((await run(agent!.client, 'web.search')).expect(200).at('status')).toBe('blocked');
    expect((await run(onReplica(agent!), 'web.search')).expect(200).at('status')).toBe('blocked');
  });

  test('keeps its capability from being removed', async () => {
    const teamId = await aTeam(server, organization);
    (await root.post('/api/v1/capabilities', { name: 'crm.update', description: 'ours' })).expect(201);
    const grantId = (await share(teamId, 'crm.update')).expect(201).text('grant.id');
    (await root.delete('/api/v1/capabilities/crm.update')).expect(409, 'CONFLICT');
    (await root.delete(`/api/v1/capabilities/grant/${grantId}`)).expect(204);
    (await root.delete('/api/v1/capabilities/crm.update')).expect(204);
  });

  test('stands in the organization\'s chain, with the team', async () => {
    const teamId = await aTeam(server, organization);
    const limits = [{ max: 3, per: 'day', then: 'block' }];
    const grantId = (await share(teamId, 'web.search', { limits })).expect(201).text('grant.id');
    (await root.delete(`/api/v1/capabilities/grant/${grantId}`)).expect(204);
    const entries = (await root.get('/api/v1/audit', { query: { limit: 500 } })).list('entries') as AuditEntry[];
    const recorded = entries.filter(({ metadata }) => metadata.grantId === grantId).reverse();
    expect(recorded).toMatchObject([
      { event: 'capability.granted', capability: 'web.search', metadata: { teamId, version: 1, limits } },
      { event: 'capability.revoked', capability: 'web.search', metadata: { teamId } },
    ]);
    expect(recorded.every(({ agentId }) => agentId === undefined)).toBe(true);
    expect((await root.get('/api/v1/audit/verify')).expect(200).at('valid')).toBe(true);
  });
});

describe('what ends on the very next call, on every server', () => {
  test('a revoked grant of a team', async () => {
    const teamId = await aTeam(server, organization);
    const mates = await teamMates(server, teamId, 3);
    for (let round = 0; round < 3; round++) {
      const grantId = (await share(teamId, 'web.search')).expect(201).text('grant.id');
      const tokens = await Promise.all(mates.map(async ({ id }) => (await root.post(`/api/v1/agents/${id}/token`)).text('token')));
      const clients = tokens.flatMap((token) => [asAgent(server, token), asAgent(replica, token)]);
      for (const client of clients) expect((await run(client, 'web.search')).expect(200).at('status')).toBe('executed');
      (await root.delete(`/api/v1/capabilities/grant/${grantId}`)).expect(204);
      const after = await Promise.all(clients.map((client) => run(client, 'web.search')));
      for (const reply of after) reply.expect(403, 'CAPABILITY_NOT_GRANTED');
    }
  });

  test('membership of an agent that was moved out', async () => {
    const teamId = await aTeam(server, organization);
    (await share(teamId, 'web.search')).expect(201);
    const [stays, goes] = await teamMates(server, teamId, 2);
    for (const client of [goes!.client, onReplica(goes!)]) expect((await run(client, 'web.search')).at('status')).toBe('executed');
    await moveToTeam(server, [goes!.id], null);
    for (const client of [onReplica(goes!), goes!.client]) (await run(client, 'web.search')).expect(403, 'CAPABILITY_NOT_GRANTED');
    expect((await run(onReplica(stays!), 'web.search')).at('status')).toBe('executed');
  });

  test('a grant that is revoked while calls are in flight: none of those sent after the answer begins', async () => {
    const teamId = await aTeam(server, organization);
    const grantId = (await share(teamId, 'web.search')).expect(201).text('grant.id');
    const mates = await teamMates(server, teamId, 6);
    const revoked = { at: Number.POSITIVE_INFINITY };
    const calls = mates.flatMap((mate) => [mate.client, onReplica(mate)]).map(async (client) => {
      const late: Reply[] = [];
      for (let i = 0; i < 12; i++) {
        const begun = performance.now();
        const reply = await run(client, 'web.search');
        if (begun > revoked.at) late.push(reply);
      }
      return late;
    });
    (await root.delete(`/api/v1/capabilities/grant/${grantId}`)).expect(204);
    revoked.at = performance.now();
    const late = (await Promise.all(calls)).flat();
    expect(late.length).toBeGreaterThan(0);
    for (const reply of late) reply.expect(403, 'CAPABILITY_NOT_GRANTED');
  });
});

describe('who holds what', () => {
  test('lists a team\'s grant once, with all the filters', async () => {
    const teamId = await aTeam(server, organization);
    const shared = (await share(teamId, 'calendar.read')).text('grant.id');
    const mates = await teamMates(server, teamId, 2);
    const own = (await root.post('/api/v1/capabilities/grant', { agentId: mates[0]!.id, capability: 'calendar.read' })).text('grant.id');
    const ids = async (query: Record<string, string>) => {
      const reply = (await root.get('/api/v1/capabilities/grants', { query })).expect(200);
      const found = (reply.list('grants') as { id: string }[]).map(({ id }) => id);
      expect(reply.at('total')).toBe(found.length);
      return found.sort();
    };
    expect(await ids({ capability: 'calendar.read' })).toEqual([shared, own].sort());
    expect(await ids({ teamId })).toEqual([shared]);
    expect(await ids({ team_id: teamId, capability: 'web.search' })).toEqual([]);
    expect(await ids({ agentId: mates[0]!.id })).toEqual([own]);
    expect(await ids({ agentId: mates[1]!.id })).toEqual([shared]);
    expect(await ids({ agentId: mates[0]!.id, teamId })).toEqual([]);
  });

  test('an agent sees its own and its team\'s, and nobody else\'s', async () => {
    const [teamId, other] = [await aTeam(server, organization), await aTeam(server, organization)];
    const shared = (await share(teamId, 'calendar.read')).text('grant.id');
    (await share(other, 'calendar.read')).expect(201);
    const [mate, second] = await teamMates(server, teamId, 2);
    const seen = async (query: Record<string, string> = {}) => {
      const reply = await mate!.client.get('/api/v1/capabilities/grants', { query });
      return (reply.expect(200).list('grants') as { id: string }[]).map(({ id }) => id);
    };
    expect(await seen()).toEqual([shared]);
    expect(await seen({ teamId })).toEqual([shared]);
    expect(await seen({ teamId: other })).toEqual([]);
    expect(await seen({ agentId: second!.id })).toEqual([]);
    (await mate!.client.get(`/api/v1/agents/${second!.id}/capabilities`)).expect(404, 'NOT_FOUND');
  });
});

describe('who may', () => {
  test('admins of the organization; a foreign team is as absent as none', async () => {
    const elsewhere = await anOrganization(server);
    const [admin, member, foreign] = await Promise.all([
      aPerson(server, 'admin'), aPerson(server, 'member'), aPerson(server, 'owner', { organizationId: elsewhere }),
    ]);
    const teamId = await aTeam(server, organization);
    const body = { teamId, capability: 'web.search', hitlMode: 'auto' };
    const made = (await admin.client.post('/api/v1/capabilities/grant', body)).expect(201);
    expect(made.at('grant.grantedBy')).toBe(admin.id);
    const path = `/api/v1/capabilities/grant/${made.text('grant.id')}`;
    (await member.client.post('/api/v1/capabilities/grant', body)).expect(403, 'FORBIDDEN');
    (await member.client.delete(path)).expect(403, 'FORBIDDEN');
    (await foreign.client.delete(path)).expect(404, 'NOT_FOUND');
    const refused = (await foreign.client.post('/api/v1/capabilities/grant', body)).expect(404, 'NOT_FOUND');
    const absent = (await foreign.client.post('/api/v1/capabilities/grant', { ...body, teamId: 'team_0' })).expect(404, 'NOT_FOUND');
    expect(absent.at('detail')).toBe(refused.at('detail'));
    expect((await foreign.client.get('/api/v1/capabilities/grants', { query: { teamId } })).list('grants')).toEqual([]);
    (await admin.client.delete(path)).expect(204);
    (await admin.client.delete(path)).expect(404, 'NOT_FOUND');
  });

  test('an agent of another organization gains nothing by a team of this one', async () => {
    const elsewhere = await anOrganization(server);
    const teamId = await aTeam(server, organization);
    (await share(teamId, 'web.search')).expect(201);
    const stranger = await anAgent(server).inOrganization(elsewhere).create();
    (await root.patch(`/api/v1/agents/${stranger.id}`, { teamId })).expect(404, 'NOT_FOUND');
    // By somebody's hand in the database it gains nothing either.
    await server.sql('update agents set team_id = $2 where id = $1', [stranger.id, teamId]);
    expect(await capabilitiesOf(stranger)).toEqual([]);
    expect(await heldBy(stranger)).toEqual([]);
    const [mate] = await teamMates(server, teamId, 1);
    expect((await execute(mate!.client, 'web.search', {})).status).toBe('executed');
    await server.sql('update agents set team_id = null where id = $1', [stranger.id]);
  });
});
