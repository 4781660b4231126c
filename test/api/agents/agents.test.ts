import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { auditOf, eventsOf } from '../../support/log/entries.js';
import { anAgent } from '../../support/builders/agents.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const ABSENT = 'agt_00000000000000000000000000absent0000';

let server: TestServer;
let root: Client;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
});
afterAll(() => server.stop());

/** Root, who has members ignored that a route does not know. */
const lenient = () => root.with({ prefer: 'handling=lenient' });
const register = (body: unknown): Promise<Reply> => root.post('/api/v1/agents', body);
const pathOf = (id: string, rest = '') => `/api/v1/agents/${id}${rest}`;

describe('registering', () => {
  test('by its name alone: active, limited, without capabilities', async () => {
    const before = Date.now();
    const made = (await register({ name: 'purchasing' })).expect(201);
    const agent = made.at('agent') as Record<string, unknown>;
    expect(agent).toMatchObject({ name: 'purchasing', riskLevel: 'limited', status: 'active', capabilities: [], tags: [],
      metadata: {} });
    expect(agent.id).toMatch(/^agt_[0-9a-z]{26,}$/);
    expect(agent.organizationId).toMatch(/^org_/);
    for (const member of ['description', 'ownerId', 'teamId', 'nodeLastSeen']) expect(agent).not.toHaveProperty(member);
    expect(agent.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(String(agent.createdAt))).toBeGreaterThan(before - 5_000);
    expect(agent.updatedAt).toBe(agent.createdAt);
    expect(Object.keys(made.body as object).sort()).toEqual(['agent', 'expiresAt', 'token']);
  });

  test('with everything, which it then shows', async () => {
    const wanted = {
      name: 'Einkauf 采购 🛒', description: 'Buys\nthings', riskLevel: 'high', tags: ['eu', 'purchasing'],
      metadata: { team: { lead: 'x' }, constructor: 'a name like any other', prototype: [1, null, { a: -0.5 }], '': true,
        'a/b~c': 1 },
    };
    const made = (await register({ ...wanted,
      grants: [{ capability: 'web.search' }, { capability: 'file:read', hitlMode: 'always' }] })).expect(201);
    expect(made.at('agent')).toMatchObject(wanted);
    expect(made.list('agent.capabilities')).toEqual(['file:read', 'web.search']);
    const read = (await root.get(pathOf(made.text('agent.id')))).expect(200);
    expect(read.body).toEqual({ agent: made.at('agent') });
  });

  test('each step is an entry of its chain', async () => {
    const made = (await register({ name: 'recorded', riskLevel: 'minimal', tags: ['a'], grants: [{ capability: 'web.search' }] }))
      .expect(201);
    const entries = await auditOf(server, made.text('agent.id'));
    expect(entries.map(({ event }) => event)).toEqual(['agent.registered', 'capability.granted', 'auth.agent_jwt_issued']);
    expect(entries[0]).toMatchObject({
      actorId: 'root', outcome: 'success', metadata: { name: 'recorded', riskLevel: 'minimal', tags: ['a'] },
    });
    expect(entries[0]).not.toHaveProperty('prevHash');
    expect(entries[1]?.metadata).toMatchObject({ capability: 'web.search', hitlMode: 'auto', version: 1 });
    expect(entries.slice(1).map(({ prevHash }) => prevHash)).toEqual(entries.slice(0, -1).map(({ hash }) => hash));
  });

  test('names need not be unique', async () => {
    const [one, two] = [(await register({ name: 'twin' })).expect(201), (await register({ name: 'twin' })).expect(201)];
    expect(one.text('agent.id')).not.toBe(two.text('agent.id'));
  });

  test('members that it does not know are refused, and where the caller says so ignored', async () => {
    const sent = {
      name: 'bold', id: ABSENT, status: 'removed', epoch: 99, createdAt: '2001-01-01T00:00:00Z', capabilities: ['data.delete'],
      registeredBy: 'usr_x', registered_by: 'usr_x', nodeLastSeen: '2001-01-01T00:00:00Z', node_last_seen: '2001-01-01T00:00:00Z',
      tenant_id: 'ten_x', skipHitl: true, token: 'mine', agent: { name: 'other' }, __v: 1,
    };
    expect((await register(sent)).expect(400, 'VALIDATION_FAILED').list('errors')).not.toHaveLength(0);
    const made = (await lenient().post('/api/v1/agents', sent)).expect(201);
    const agent = made.at('agent') as Record<string, unknown>;
    expect(agent).toMatchObject({ name: 'bold', status: 'active', capabilities: [] });
    expect(agent.id).not.toBe(ABSENT);
    expect(agent).not.toHaveProperty('nodeLastSeen');
    const [row] = await server.sql('select * from agents where id = $1', [agent.id]);
    expect(row).toMatchObject({ epoch: '0', status: 'active', registered_by: 'root', node_last_seen: null });
    expect(JSON.stringify(row)).not.toMatch(/usr_x|ten_x|2001-|skipHitl/);
  });

  test('in another organization: only one that exists', async () => {
    (await register({ name: 'stray', organizationId: 'org_00000000000000000000000000absent0000' })).expect(404, 'NOT_FOUND');
    const [own] = await server.sql<{ id: string }>('select id from organizations');
    (await register({ name: 'settled', organization_id: own?.id })).expect(201);
  });

  test.each<[string, unknown, string]>([
    ['no name', {}, '/name'], ['an empty name', { name: '' }, '/name'], ['a blank name', { name: ' \t ' }, '/name'],
    ['a name of two lines', { name: 'a\nb' }, '/name'], ['a long name', { name: 'x'.repeat(201) }, '/name'],
    ['a name that is none', { name: 5 }, '/name'],
    ['null for a name', { name: null }, '/name'], ['an unknown risk', { name: 'x', riskLevel: 'HIGH' }, '/riskLevel'],
    ['an unknown risk', { name: 'x', risk_level: 'extreme' }, '/risk_level'],
    ['a long description', { name: 'x', description: 'x'.repeat(2_001) }, '/description'],
    ['tags that are no list', { name: 'x', tags: 'eu' }, '/tags'], ['a tag that is no text', { name: 'x', tags: [1] }, '/tags'],
    ['too many tags', { name: 'x', tags: Array.from({ length: 51 }, (_, at) => `t${at}`) }, '/tags'],
    ['metadata that is a list', { name: 'x', metadata: [] }, '/metadata'],
    ['metadata that is a text', { name: 'x', metadata: 'x' }, '/metadata'],
    ['an owner that is no text', { name: 'x', ownerId: {} }, '/ownerId'],
    ['an empty team', { name: 'x', team_id: '' }, '/team_id'],
    ['a grant without capability', { name: 'x', grants: [{}] }, '/grants/0/capability'],
    ['a grant of an unknown mode', { name: 'x',
      grants: [{ capability: 'web.search' }, { capability: 'file.read', hitl_mode: 'ask' }] }, '/grants/1/hitl_mode'],
    ['one capability twice', { name: 'x', grants: [{ capability: 'web.search' }, { capability: 'web.search' }] },
      '/grants/1/capability'],
    ['grants that are no list', { name: 'x', grants: {} }, '/grants'],
  ])('%s is refused: %j', async (_, body, pointer) => {
    const refused = (await register(body)).expect(400, 'VALIDATION_FAILED');
    expect((refused.list('errors') as { pointer: string }[]).map((error) => error.pointer)).toContain(pointer);
  });

  test('all or nothing: a grant that cannot be leaves no agent, and the fault is pointed at where it stands', async () => {
    const unknown = await register({ name: 'half made', grants: [{ capability: 'web.search' }, { capability: 'no.such' }] });
    unknown.expect(404, 'NOT_FOUND');
    const unusable = await register({
      name: 'half made', grants: [{ capability: 'web.search' },
        { capability: 'file.read', conditions: [{ when: 'input.', hitlMode: 'block' }] }],
    });
    unusable.expect(422, 'INVALID_CONDITION');
    const [count] = await server.sql<{ found: number }>(`select count(*)::int as found from agents where name = 'half made'`);
    expect(count?.found).toBe(0);
    expect(unusable.text('errors.0.pointer')).toBe('/grants/1/conditions/0/when');
  });
});

describe('reading', () => {
  test('the list is newest first, with a total, and filters', async () => {
    const mark = `listed ${Date.now()}`;
    const ids: string[] = [];
    for (const riskLevel of ['minimal', 'unacceptable',
      'minimal']) ids.push((await anAgent(server).named(mark).risk(riskLevel).create()).id);
    (await root.post(pathOf(ids[2] ?? '', '/deactivate'))).expect(200);
    const all = (await root.get('/api/v1/agents')).expect(200);
    const listed = all.list('agents') as { id: string; name: string }[];
    expect(listed.filter(({ name }) => name === mark).map(({ id }) => id)).toEqual([...ids].reverse());
    expect(all.number('total')).toBe(listed.length);
    expect(listed.map(({ id }) => id)).toEqual(listed.map(({ id }) => id).sort().reverse());
    const ofRisk = (await root.get('/api/v1/agents?risk_level=unacceptable')).expect(200);
    expect((ofRisk.list('agents') as { id: string }[]).map(({ id }) => id)).toEqual([ids[1]]);
    expect(ofRisk.number('total')).toBe(1);
    const inactive = (await root.get('/api/v1/agents?status=deactivated')).expect(200);
    expect((inactive.list('agents') as { id: string }[]).map(({ id }) => id)).toContain(ids[2]);
    (await root.get('/api/v1/agents?status=removed')).expect(400, 'VALIDATION_FAILED');
  });

  test('what is not there is 404, whatever its id looks like', async () => {
    for (const id of [ABSENT, 'agt_', 'agt', 'x', '0', 'usr_0123456789abcdef', 'AGT_0123456789', '%20', 'a%00b',
      `agt_${'x'.repeat(300)}`, "agt_'or'1'='1"]) {
      (await root.get(pathOf(id))).expect(404, 'NOT_FOUND');
      (await root.patch(pathOf(id), { name: 'x' })).expect(404, 'NOT_FOUND');
      (await root.delete(pathOf(id))).expect(404, 'NOT_FOUND');
      (await root.post(pathOf(id, '/deactivate'))).expect(404, 'NOT_FOUND');
      (await root.post(pathOf(id, '/token'))).expect(404, 'NOT_FOUND');
    }
  });
});

describe('changing', () => {
  test('what is sent, and nothing else; null clears the description', async () => {
    const { id, agent } = await anAgent(server).having({ description: 'before', metadata: { a: 1, b: 2 }, tags: ['x'] }).create();
    const changed = (await root.patch(pathOf(id), { description: 'after', metadata: { b: 3 } })).expect(200);
    expect(changed.at('agent')).toMatchObject({ name: agent.name, description: 'after', metadata: { b: 3 }, tags: ['x'],
      createdAt: agent.createdAt });
    expect(Date.parse(changed.text('agent.updatedAt'))).toBeGreaterThanOrEqual(Date.parse(String(agent.updatedAt)));
    const cleared = (await root.patch(pathOf(id), { description: null, tags: [] })).expect(200);
    expect(cleared.at('agent')).not.toHaveProperty('description');
    expect(cleared.at('agent.tags')).toEqual([]);
    expect((await root.get(pathOf(id))).body).toEqual(cleared.body);
    const updates = (await auditOf(server, id)).filter(({ event }) => event === 'agent.updated');
    expect(updates.map(({ metadata }) => metadata)).toMatchObject([{ description: 'after', metadata: { b: 3 } },
      { tags: [], cleared: ['description'] }]);
    expect(updates[0]?.metadata).not.toHaveProperty('name');
  });

  test('what may not be changed stays', async () => {
    const { id, agent } = await anAgent(server).create();
    const sent = {
      status: 'removed', riskLevel: 'minimal', risk_level: 'minimal', id: ABSENT, organizationId: 'org_x',
      organization_id: 'org_x', epoch: 5,
      capabilities: ['data.delete'], createdAt: '2001-01-01T00:00:00Z', registeredBy: 'usr_x',
    };
    (await root.patch(pathOf(id), sent)).expect(400, 'VALIDATION_FAILED');
    const after = (await lenient().patch(pathOf(id), sent)).expect(200).at('agent') as Record<string, unknown>;
    expect({ ...after, updatedAt: agent.updatedAt }).toEqual(agent);
    (await root.patch(pathOf(id), { name: null })).expect(400);
  });

  test('the risk level decides from the very next call on', async () => {
    const agent = await anAgent(server).risk('limited').granted('web.search', { hitlMode: 'on_risk' }).create();
    const before = (await agent.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200);
    expect(before.body).toMatchObject({ status: 'executed', flagged: false });
    const changed = (await root.patch(pathOf(agent.id, '/risk-level'), { riskLevel: 'high' })).expect(200);
    expect(changed.text('agent.riskLevel')).toBe('high');
    const after = (await agent.client.post('/api/v1/execute', { capability: 'web.search' })).expect(202);
    expect(after.body).toMatchObject({ status: 'pending_hitl', effectiveMode: 'propose', flagged: true });
    expect((await root.get(pathOf(agent.id, '/capabilities'))).text('grants.0.effectiveMode')).toBe('propose');
    expect(await eventsOf(server, agent.id)).toContain('agent.updated');
    for (const body of [{}, { riskLevel: 'none' }, { riskLevel: null }, { riskLevel: ['high'] }]) {
      (await root.patch(pathOf(agent.id, '/risk-level'), body)).expect(400, 'VALIDATION_FAILED');
    }
  });
});

describe('out of service', () => {
  test('deactivated: it can do nothing; its open requests stay; and it comes back', async () => {
    const agent = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
    const asked = (await agent.client.post('/api/v1/execute', { capability: 'email.send' })).expect(202).text('hitlRequestId');
    const gone = (await root.post(pathOf(agent.id, '/deactivate'), { reason: 'under review' })).expect(200);
    expect(gone.text('agent.status')).toBe('deactivated');
    (await root.post(pathOf(agent.id, '/deactivate'))).expect(409, 'CONFLICT');
    (await agent.client.post('/api/v1/execute', { capability: 'web.search' })).expect(403, 'AGENT_INACTIVE');
    expect((await root.get(`/api/v1/hitl/${asked}`)).expect(200).text('status')).toBe('pending');
    (await root.post('/api/v1/execute', { capability: 'web.search', agentId: agent.id })).expect(403, 'AGENT_INACTIVE');
    const back = (await root.post(pathOf(agent.id, '/activate'))).expect(200);
    expect(back.text('agent.status')).toBe('active');
    expect(back.list('agent.capabilities')).toEqual(['email.send', 'web.search']);
    (await root.post(pathOf(agent.id, '/activate'))).expect(409, 'CONFLICT');
    const entries = await auditOf(server, agent.id);
    expect(entries.map(({ event }) => event)).toEqual(expect.arrayContaining(['agent.deactivated', 'execution.blocked',
      'agent.activated']));
    expect(entries.find(({ event }) => event === 'agent.deactivated')?.metadata).toMatchObject({ reason: 'under review' });
    expect(entries.find(({ event }) => event === 'execution.blocked')).toMatchObject({ outcome: 'blocked',
      metadata: { reason: 'AGENT_INACTIVE' } });
  });

  test('removed: gone from everywhere, grants revoked, requests cancelled by system, the record stays', async () => {
    const agent = await anAgent(server).granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
    const ran = (await agent.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200).text('executionId');
    const asked = (await agent.client.post('/api/v1/execute', { capability: 'email.send' })).expect(202).text('hitlRequestId');
    const removed = (await root.delete(pathOf(agent.id))).expect(204);
    expect(removed.body).toBeUndefined();
    (await root.get(pathOf(agent.id))).expect(404, 'NOT_FOUND');
    (await root.delete(pathOf(agent.id))).expect(404, 'NOT_FOUND');
    (await root.patch(pathOf(agent.id), { name: 'ghost' })).expect(404);
    (await root.post(pathOf(agent.id, '/activate'))).expect(404);
    (await root.post(pathOf(agent.id, '/capabilities'), { capability: 'file.read' })).expect(404);
    (await root.post('/api/v1/capabilities/grant', { agentId: agent.id, capability: 'file.read' })).expect(404);
    (await root.get(pathOf(agent.id, '/capabilities'))).expect(404);
    (await root.delete(pathOf(agent.id, '/tokens'))).expect(404);
    const left = (await root.get('/api/v1/agents')).list('agents') as { id: string }[];
    expect(left.map(({ id }) => id)).not.toContain(agent.id);
    expect((await root.get(`/api/v1/capabilities/grants?agentId=${agent.id}`)).expect(200).number('total')).toBe(0);
    expect((await root.get(`/api/v1/hitl/${asked}`)).expect(200)
      .body).toMatchObject({ status: 'cancelled', decided_by: 'system' });
    (await root.post(`/api/v1/hitl/${asked}/approve`)).expect(409, 'HITL_ALREADY_DECIDED');
    (await root.get(`/api/v1/executions/${ran}`)).expect(200);
    (await agent.client.post('/api/v1/execute', { capability: 'web.search' })).expect(403, 'AGENT_INACTIVE');
    const entries = await auditOf(server, agent.id);
    expect(entries.map(({ event }) => event)).toEqual(expect.arrayContaining(['agent.registered', 'capability.revoked',
      'hitl.cancelled', 'agent.removed']));
    expect(entries.find(({ event }) => event === 'hitl.cancelled')?.actorId).toBe('system');
    expect((await root.get('/api/v1/audit/verify')).expect(200).at('valid')).toBe(true);
  });
});
