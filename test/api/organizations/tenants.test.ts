import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { entriesOf } from '../../support/log/entries.js';
import { anAgent } from '../../support/builders/agents.js';
import { aPerson, anOrganization, aTeam } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { asInternal, aTenant, INTERNAL } from '../../support/builders/tenants.js';

const TENANTS = '/internal/v1/tenants';
const ABSENT = 'ten_00000000000000000000000000absent0000';

let server: TestServer;
let root: Client;
let internal: Client;

beforeAll(async () => {
  server = await startServer({ env: INTERNAL });
  root = asRoot(server);
  internal = asInternal(server);
});

afterAll(() => server.stop());

const changesOf = async (tenantId: string) =>
  (await entriesOf(server, 'admin.tenant_changed', 'org_platform')).filter(({ metadata }) => metadata.tenantId === tenantId);

describe('making a tenant', () => {
  test('it comes with its first organization, whose chain begins with it', async () => {
    const made = (await internal.post(TENANTS, { name: 'Acme', tier: 'teams' })).expect(201);
    const [id, organizationId] = [made.text('tenant.id'), made.text('tenant.firstOrganizationId')];
    expect(made.at('tenant')).toEqual({
      id, name: 'Acme', tier: 'teams', active: true, status: 'active', firstOrganizationId: organizationId,
      createdAt: expect.any(String), updatedAt: made.text('tenant.createdAt'),
    });
    expect((await root.get(`/api/v1/organizations/${organizationId}`)).expect(200).at('organization')).toMatchObject({
      name: 'Acme', tenantId: id, settings: { separationOfDuties: 'standard' },
    });
    expect(await entriesOf(server, 'admin.organization_created', organizationId)).toMatchObject([
      { actorId: 'internal', metadata: { organizationId, name: 'Acme', tenantId: id } },
    ]);
    expect(await changesOf(id)).toMatchObject([
      { actorId: 'internal', metadata: { tenantId: id, change: 'created', name: 'Acme', tier: 'teams', subscriptionActive: true } },
    ]);
    const agent = await anAgent(server).inOrganization(organizationId).granted('web.search').create();
    expect((await agent.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200).at('status')).toBe('executed');
  });

  test('without a tier it is the least; root makes them too, and a retry makes one', async () => {
    const keyed = root.with({ 'idempotency-key': 'tenant-1' });
    const first = (await keyed.post(TENANTS, { name: 'Small' })).expect(201);
    const again = (await keyed.post(TENANTS, { name: 'Small' })).expect(201);
    expect(first.at('tenant.tier')).toBe('personal');
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await changesOf(first.text('tenant.id'))).toMatchObject([{ actorId: 'root', metadata: { change: 'created' } }]);
    // The same key of another principal is another key.
    const other = (await internal.with({ 'idempotency-key': 'tenant-1' }).post(TENANTS, { name: 'Small' })).expect(201);
    expect(other.at('tenant.id')).not.toBe(first.at('tenant.id'));
  });

  test.each([
    [{}, '/name'], [{ name: '' }, '/name'], [{ name: 'x', tier: 'gold' }, '/tier'], [{ name: 'x', tier: 'Teams' }, '/tier'],
  ])('%j is refused at %s', async (body, pointer) => {
    const refused = (await internal.post(TENANTS, body)).expect(400, 'VALIDATION_FAILED');
    expect(refused.at('errors.0.pointer')).toBe(pointer);
  });
});

describe('reading tenants', () => {
  test('newest first, in pages; deleted ones apart', async () => {
    const made: string[] = [];
    for (let i = 0; i < 3; i++) made.push((await internal.post(TENANTS, { name: `p${i}` })).expect(201).text('tenant.id'));
    (await internal.delete(`${TENANTS}/${made[1]}`)).expect(204);
    const list = (await internal.get(TENANTS)).expect(200);
    const ids = (list.list('tenants') as { id: string }[]).map(({ id }) => id);
    expect(ids).toEqual([...ids].sort().reverse());
    expect(ids).toEqual(expect.arrayContaining([made[0], made[2]]));
    expect(ids).not.toContain(made[1]);
    expect(list.number('total')).toBe(ids.length);
    const page = (await internal.get(TENANTS, { query: { limit: 1 } })).expect(200);
    const next = (await internal.get(TENANTS, { query: { limit: 1, cursor: page.text('nextCursor') } })).expect(200);
    expect([page.at('tenants.0.id'), next.at('tenants.0.id')]).toEqual(ids.slice(0, 2));
    const deleted = (await internal.get(TENANTS, { query: { status: 'deleted' } })).expect(200);
    expect((deleted.list('tenants') as { id: string }[]).map(({ id }) => id)).toContain(made[1]);
    expect((await internal.get(`${TENANTS}/${made[1]}`)).expect(200).at('tenant.status')).toBe('deleted');
  });

  test('what is not there reads like what cannot be', async () => {
    for (const id of [ABSENT, 'org_00000000000000000000000000absent0000', 'x', '%27', 'ten_']) {
      (await internal.get(`${TENANTS}/${id}`)).expect(404, 'NOT_FOUND');
      (await internal.get(`${TENANTS}/${id}/usage`)).expect(404, 'NOT_FOUND');
      (await internal.patch(`${TENANTS}/${id}`, { name: 'x' })).expect(404, 'NOT_FOUND');
      (await internal.put(`${TENANTS}/${id}/subscription`, { tier: 'teams', active: true })).expect(404, 'NOT_FOUND');
      (await internal.delete(`${TENANTS}/${id}`)).expect(404, 'NOT_FOUND');
    }
  });
});

describe('changing one', () => {
  test('its name; its organizations keep theirs', async () => {
    const tenant = (await internal.post(TENANTS, { name: 'Before' })).expect(201);
    const id = tenant.text('tenant.id');
    const changed = (await internal.patch(`${TENANTS}/${id}`, { name: 'After' })).expect(200);
    expect(changed.at('tenant')).toMatchObject({ name: 'After', tier: 'personal', active: true });
    expect((await internal.patch(`${TENANTS}/${id}`, {})).expect(200).at('tenant.name')).toBe('After');
    const organization = (await root.get(`/api/v1/organizations/${tenant.text('tenant.firstOrganizationId')}`)).expect(200);
    expect(organization.at('organization.name')).toBe('Before');
    expect((await changesOf(id)).map(({ metadata }) => [metadata.change, metadata.name])).toEqual(
      expect.arrayContaining([['updated', 'After'], ['created', 'Before']]));
  });

  test('its subscription, whole', async () => {
    const id = (await internal.post(TENANTS, { name: 'Payer' })).expect(201).text('tenant.id');
    const put = (body: unknown) => internal.put(`${TENANTS}/${id}/subscription`, body);
    const unpaid = { tier: 'enterprise', active: false };
    expect((await put(unpaid)).expect(200).at('tenant')).toMatchObject(unpaid);
    expect((await internal.get(`${TENANTS}/${id}`)).expect(200).at('tenant')).toMatchObject({ tier: 'enterprise', active: false });
    expect(await changesOf(id)).toEqual(expect.arrayContaining([expect.objectContaining({
      actorId: 'internal', metadata: { tenantId: id, change: 'subscription', tier: 'enterprise', subscriptionActive: false },
    })]));
    for (const body of [{}, { tier: 'teams' }, { active: true }, { tier: 'none', active: true }, { tier: 'teams', active: 'yes' }]) {
      (await put(body)).expect(400, 'VALIDATION_FAILED');
    }
  });
});

describe('usage', () => {
  test('counts what all of its organizations have, and nobody else\'s', async () => {
    const { id, organizationIds: [here, there] } = await aTenant(server, 'enterprise', { organizations: 2 });
    const foreign = await anOrganization(server);
    await Promise.all([here!, there!, there!, foreign].map((organizationId) => aPerson(server, 'member', { organizationId })));
    const closed = await aPerson(server, 'member', { organizationId: here! });
    (await root.delete(`/api/v1/users/${closed.id}`)).expect(204);
    await aTeam(server, there!);
    await aTeam(server, foreign);
    const [agent, removed] = [
      await anAgent(server).inOrganization(here!).granted('web.search').create(), await anAgent(server).inOrganization(there!).create(),
    ];
    (await root.delete(`/api/v1/agents/${removed.id}`)).expect(204);
    const before = new Date(Date.now() - 1_000).toISOString();
    for (let i = 0; i < 3; i++) (await agent.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200);
    const usage = async (query: Record<string, string> = {}) =>
      (await internal.get(`${TENANTS}/${id}/usage`, { query })).expect(200).at('usage');
    expect(await usage()).toEqual({
      users: 3, agents: 1, organizations: 2, teams: 1, executions: 3, from: expect.any(String), to: expect.any(String),
    });
    expect(await usage({ from: before })).toMatchObject({ executions: 3 });
    expect(await usage({ to: before })).toMatchObject({ executions: 0, users: 3 });
    expect(await usage({ from: '2020-01-01', to: '2020-12-31' })).toMatchObject({
      executions: 0, from: '2020-01-01T00:00:00.000Z', to: '2020-12-31T23:59:59.999Z',
    });
    const turned = (await internal.get(`${TENANTS}/${id}/usage`, { query: { from: '2021-01-01', to: '2020-01-01' } })).expect(400);
    expect(turned.at('errors.0.pointer')).toBe('?from');
  });
});

describe('deleting one', () => {
  test('nobody comes in any more, no agent acts, and what was there stays to be read', async () => {
    const { id, organizationIds } = await aTenant(server, 'enterprise', { organizations: 2 });
    const [home, second] = organizationIds as [string, string];
    const owner = await aPerson(server, 'owner', { organizationId: home });
    const others = await Promise.all(Array.from({ length: 55 }, () => aPerson(server, 'member', { organizationId: second })));
    const agents = await Promise.all(organizationIds.map((organizationId) =>
      anAgent(server).inOrganization(organizationId).granted('web.search').create()));
    const bystander = await aPerson(server, 'owner');
    (await internal.delete(`${TENANTS}/${id}`)).expect(204);
    for (const person of [owner, ...others.slice(0, 3), ...others.slice(-3)]) {
      (await person.client.get('/api/v1/users/me')).expect(401, 'UNAUTHENTICATED');
    }
    for (const agent of agents) (await agent.client.post('/api/v1/execute', { capability: 'web.search' })).expect(403, 'STOPPED');
    (await bystander.client.get('/api/v1/users/me')).expect(200);
    const users = (await root.get('/api/v1/users', { query: { organizationId: second, status: 'deleted' } })).expect(200);
    expect(users.number('total')).toBe(others.length);
    expect((await entriesOf(server, 'admin.user_deleted', second)).every(({ actorId }) => actorId === 'internal')).toBe(true);
    for (const organizationId of organizationIds) {
      const stops = (await root.get('/api/v1/stops', { query: { organizationId, status: 'active' } })).expect(200).list('stops');
      expect(stops).toMatchObject([{ scope: 'organization', madeBy: 'internal', reason: 'The tenant was deleted.' }]);
      expect(await entriesOf(server, 'admin.stop_started', organizationId)).toHaveLength(1);
    }
    expect((await internal.get(`${TENANTS}/${id}`)).expect(200).at('tenant')).toMatchObject({ status: 'deleted', tier: 'enterprise' });
    // Its log can still be taken along.
    (await root.get('/api/v1/audit/export', { query: { organizationId: home } })).expect(200);
  });

  test('nothing new is made in it, by root either; nor is it changed', async () => {
    const { id, organizationIds: [organizationId] } = await aTenant(server, 'enterprise');
    (await root.delete(`${TENANTS}/${id}`)).expect(204);
    (await root.post('/api/v1/users', { email: 'late@acme.test', organizationId })).expect(403, 'FORBIDDEN');
    (await root.post('/api/v1/teams', { name: 'late', organizationId })).expect(403, 'FORBIDDEN');
    (await root.post('/api/v1/organizations', { name: 'late', tenantId: id })).expect(403, 'FORBIDDEN');
    (await internal.patch(`${TENANTS}/${id}`, { name: 'x' })).expect(409, 'CONFLICT');
    (await internal.put(`${TENANTS}/${id}/subscription`, { tier: 'teams', active: true })).expect(409, 'CONFLICT');
  });

  test('a call that broke off is gone on with; a further one changes nothing', async () => {
    const { id, organizationIds } = await aTenant(server, 'enterprise', { organizations: 2 });
    const [first, second] = await Promise.all(organizationIds.map((organizationId) => aPerson(server, 'owner', { organizationId })));
    (await internal.delete(`${TENANTS}/${id}`)).expect(204);
    // As it stands where the server died between two organizations.
    await server.sql(`delete from stops where organization_id = $1`, [organizationIds[1]]);
    await server.sql(`update users set status = 'active', ended_at = null where id = $1`, [second!.id]);
    await server.sql('update personal_keys set revoked_at = null, revoked_by = null where user_id = $1', [second!.id]);
    (await second!.client.get('/api/v1/users/me')).expect(200);
    (await root.delete(`${TENANTS}/${id}`)).expect(204);
    for (const person of [first!, second!]) (await person.client.get('/api/v1/users/me')).expect(401);
    const marked = async () => (await changesOf(id)).filter(({ metadata }) => metadata.change === 'deleted').length;
    const count = async () => (await server.sql('select id from audit_entries where organization_id = any ($1)', [organizationIds])).length;
    const [entries] = [await count()];
    for (const organizationId of organizationIds) {
      expect(await server.sql('select id from stops where organization_id = $1', [organizationId])).toHaveLength(1);
    }
    (await internal.delete(`${TENANTS}/${id}`)).expect(204);
    expect([await marked(), await count()]).toEqual([1, entries]);
  });

  test('two calls at once end it once', async () => {
    const { id, organizationIds: [organizationId] } = await aTenant(server, 'teams');
    await Promise.all(Array.from({ length: 5 }, () => aPerson(server, 'owner', { organizationId: organizationId! })));
    const answers = await Promise.all([1, 2, 3].map(() => internal.delete(`${TENANTS}/${id}`)));
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204]);
    expect(await server.sql('select id from stops where organization_id = $1', [organizationId])).toHaveLength(1);
    expect(await entriesOf(server, 'admin.user_deleted', organizationId!)).toHaveLength(5);
  });
});
