import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { defineCapability } from '../../support/builders/gate.js';
import { anOrganization, aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

interface Decision {
  readonly id: string;
  readonly agentId?: string;
  readonly score?: number;
  readonly candidates: { agentId: string; score?: number; factors?: Record<string, number>; rejectedBecause?: string }[];
}

let server: TestServer;
let root: Client;
let member: BuiltPerson;
let viewer: BuiltPerson;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
  member = await aPerson(server, 'member');
  viewer = await aPerson(server, 'viewer');
});
afterAll(() => server.stop());

const resolve = (body: unknown, client: Client = root) => client.post('/api/v1/routing/resolve', body);
const decided = async (body: unknown, client: Client = root) => (await resolve(body, client)).expect(200).at('decision') as Decision;
const log = async (client: Client = root) => (await client.get('/api/v1/routing/log')).expect(200).at('decisions') as Decision[];
const why = ({ candidates }: Decision, { id }: BuiltAgent) => candidates.find(({ agentId }) => agentId === id)?.rejectedBecause;
let names = 0;
async function aCapability(): Promise<string> {
  const name = `routed.task${names++}`;
  await defineCapability(server, name);
  return name;
}

describe('resolve', () => {
  test('finds who holds it, says why others are not eligible, and logs the decision', async () => {
    const capability = await aCapability();
    const good = await anAgent(server).named('good').granted(capability).create();
    const blocked = await anAgent(server).granted(capability, { hitlMode: 'block' }).create();
    const off = await anAgent(server).granted(capability).create();
    (await root.post(`/api/v1/agents/${off.id}/deactivate`)).expect(200);
    const stopped = await anAgent(server).granted(capability).create();
    (await root.post('/api/v1/stops', { scope: 'agent', id: stopped.id, reason: 'test' })).expect(201);
    const expired = await anAgent(server).granted(capability).create();
    await server.sql(`update capability_grants set expires_at = now() - interval '1 s' where agent_id = $1`, [expired.id]);

    const decision = await decided({ capability, description: 'look it up' }, member.client);
    expect(decision).toMatchObject({ agentId: good.id, agentName: 'good', capabilities: [capability], description: 'look it up' });
    expect(decision.candidates[0]).toMatchObject({ agentId: good.id, score: decision.score, factors: { freshness: 0, load: 1 } });
    expect([blocked, off, stopped].map((agent) => why(decision, agent))).toEqual(['blocked', 'out_of_service', 'stopped']);
    expect([undefined, 'not_granted']).toContain(why(decision, expired));
    expect((await log())[0]).toEqual(decision);
  });

  test('weighs the node, the load, success, tags and risk', async () => {
    const capability = await aCapability();
    const agents = await Promise.all([0, 1].map(() => anAgent(server).tagged('x').granted(capability).create()));
    const [a, b] = agents.sort((one, other) => (one.id < other.id ? -1 : 1)) as [BuiltAgent, BuiltAgent];
    expect((await decided({ capability })).agentId).toBe(a.id);
    await server.sql('update agents set node_last_seen = now() where id = $1', [b.id]);
    expect((await decided({ capability })).agentId).toBe(b.id);
    await server.sql('update agents set node_last_seen = null where id = $1', [b.id]);
    await server.sql('update audit_heads set open_requests = 3 where chain = $1', [a.id]);
    expect((await decided({ capability })).agentId).toBe(b.id);
    await server.sql('update audit_heads set open_requests = 0 where chain = $1', [a.id]);
    (await root.patch(`/api/v1/agents/${a.id}/risk-level`, { riskLevel: 'high' })).expect(200);
    expect((await decided({ capability })).agentId).toBe(b.id);
    (await root.patch(`/api/v1/agents/${a.id}`, { tags: ['x', 'y'] })).expect(200);
    (await root.patch(`/api/v1/agents/${a.id}/risk-level`, { riskLevel: 'limited' })).expect(200);
    expect((await decided({ capability, tags: ['x', 'y'] })).agentId).toBe(a.id);
    expect((await decided({ capability, exclude: [a.id] })).agentId).toBe(b.id);
  });

  test('takes all capabilities, of the team where one is named, by team grants too', async () => {
    const [one, two] = [await aCapability(), await aCapability()];
    const teamId = (await root.post('/api/v1/teams', { name: 'team' })).expect(201).text('team.id');
    (await root.post('/api/v1/capabilities/grant', { teamId, capability: two, hitlMode: 'auto' })).expect(201);
    const half = await anAgent(server).granted(one).create();
    const both = await anAgent(server).having({ teamId }).granted(one).create();
    const barred = await anAgent(server).having({ teamId }).granted(one).granted(two, { hitlMode: 'block' }).create();
    const decision = await decided({ capabilities: [one, two] });
    expect(decision.agentId).toBe(both.id);
    expect([why(decision, half), why(decision, barred)]).toEqual(['not_granted', 'blocked']);
    expect((await decided({ capability: one, teamId, exclude: [barred.id] })).agentId).toBe(both.id);
  });

  test('gathers success rates beside the calls', async () => {
    const organizationId = await anOrganization(server);
    const admin = await aPerson(server, 'admin', { organizationId });
    (await admin.client.post('/api/v1/capabilities', { name: 'rated.task', description: 'x' })).expect(201);
    const agents = await Promise.all([0, 1].map(() => anAgent(server).inOrganization(organizationId).granted('rated.task').create()));
    const [idle, good] = agents.sort((one, other) => (one.id < other.id ? -1 : 1)) as [BuiltAgent, BuiltAgent];
    (await good.client.post('/api/v1/execute', { capability: 'rated.task' })).expect(200);
    await eventually(async () => {
      const { agentId, candidates } = await decided({ capability: 'rated.task', organizationId });
      expect([agentId, candidates.find((one) => one.agentId === idle.id)?.factors?.['success']]).toEqual([good.id, 0.5]);
    });
  });
});

describe('nobody', () => {
  test('is 404 NO_ELIGIBLE_AGENT, and logged', async () => {
    const capability = await aCapability();
    const refused = (await resolve({ capability })).expect(404);
    expect(refused.at('code')).toBe('NO_ELIGIBLE_AGENT');
    const [newest] = await log();
    expect(newest).toMatchObject({ capabilities: [capability] });
    expect(newest).not.toHaveProperty('agentId');
    expect(refused.text('detail')).toContain(newest!.id);
  });

  test('says so where it is the capability that there is not', async () => {
    const capability = await aCapability();
    const detail = async (body: object) => (await resolve(body)).expect(404, 'NO_ELIGIBLE_AGENT').text('detail');
    expect(await detail({ capabilities: ['file.read', `${capability}x`] })).toContain(`no capability "${capability}x"; did you mean`);
    expect(await detail({ capability })).not.toContain('no capability');
  });

  test.each([
    [{}, '/capability'], [{ capability: '' }, '/capability'], [{ capabilities: [] }, '/capabilities'],
    [{ capability: 'a.b', capabilities: ['a.b'] }, '/capabilities'], [{ capability: 'a.b', tags: 'x' }, '/tags'],
    [{ capability: 'a.b', dryRun: true }, '/dryRun'],
  ])('%j is 400', async (body, pointer) => {
    const refused = (await resolve(body)).expect(400);
    expect((refused.list('errors') as { pointer: string }[])[0]!.pointer).toBe(pointer);
  });
});

describe('who may', () => {
  test('an agent asks for what it holds, and is shown who was found alone', async () => {
    const capability = await aCapability();
    const asking = await anAgent(server).granted(capability).create();
    const other = await anAgent(server).granted(capability).create();
    const decision = await decided({ capability, exclude: [asking.id] }, asking.client);
    expect([decision.agentId, decision.candidates.map(({ agentId }) => agentId)]).toEqual([other.id, [other.id]]);
    const outsider = await anAgent(server).create();
    expect((await resolve({ capability }, outsider.client)).expect(403).at('code')).toBe('CAPABILITY_NOT_GRANTED');
    (await outsider.client.get('/api/v1/routing/log')).expect(403);
  });

  test('viewers read the log and resolve nothing; another organization sees and finds nobody of this one', async () => {
    const capability = await aCapability();
    await anAgent(server).granted(capability).create();
    (await resolve({ capability }, viewer.client)).expect(403);
    expect((await log(viewer.client)).length).toBeGreaterThan(0);
    const stranger = await aPerson(server, 'admin', { organizationId: await anOrganization(server) });
    (await resolve({ capability }, stranger.client)).expect(404);
    expect((await log(stranger.client)).length).toBe(1);
    (await resolve({ capability, organizationId: member.organizationId }, stranger.client)).expect(404);
  });

  test('a key repeats the decision, and the log holds 200', async () => {
    const capability = await aCapability();
    await anAgent(server).granted(capability).create();
    const headers = { 'Idempotency-Key': 'routing-once' };
    const [first, again] = [await root.post('/api/v1/routing/resolve', { capability }, { headers }),
      await root.post('/api/v1/routing/resolve', { capability }, { headers })];
    expect(again.expect(200).at('decision')).toEqual(first.expect(200).at('decision'));
    const organizationId = member.organizationId;
    await server.sql(`insert into routing_decisions select organization_id, 'rte_0' || n, capabilities, description, tags, team_id, exclude,
      agent_id, agent_name, score, candidates, asked_by, created_at from routing_decisions d, generate_series(1000, 1300) n
      where d.id = $1 and d.organization_id = $2`, [first.text('decision.id'), organizationId]);
    const { id } = await decided({ capability });
    const kept = await log(member.client);
    expect([kept.length, kept[0]!.id]).toEqual([200, id]);
  });
});
