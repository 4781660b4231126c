import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../src/domain/ids.js';
import { asRoot, type Client } from '../../support/http/actors.js';
import { entriesOf } from '../../support/log/entries.js';
import { anAgent } from '../../support/builders/agents.js';
import { anOrganization, aPerson, firstOrganization } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const ORGANIZATIONS = '/api/v1/organizations';
const ABSENT = 'org_00000000000000000000000000absent0000';

const REDACTS: unknown = expect.objectContaining({ action: 'redact' });

let server: TestServer;
let root: Client;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
});

afterAll(() => server.stop());

const idsOf = async (client: Client, query: Record<string, string | number> = {}) =>
  ((await client.get(ORGANIZATIONS, { query })).expect(200).list('organizations') as { id: string }[]).map(({ id }) => id);

async function aTenant(): Promise<string> {
  const id = newId('ten');
  await server.sql('insert into tenants (id, name) values ($1, $1)', [id]);
  return id;
}

describe('making an organization', () => {
  test('root makes one, with its own chain, and agents and people can be put into it', async () => {
    const made = (await root.post(ORGANIZATIONS, { name: 'Acme' })).expect(201);
    const id = made.text('organization.id');
    expect(made.at('organization')).toEqual({
      id, name: 'Acme', settings: { separationOfDuties: 'standard', decideByMail: false, scanPii: 'optional', pii: REDACTS },
      createdAt: expect.any(String), updatedAt: made.text('organization.createdAt'),
    });
    const [entry] = await entriesOf(server, 'admin.organization_created', id);
    expect(entry).toMatchObject({
      actorId: 'root', metadata: { organizationId: id, name: 'Acme', settings: { separationOfDuties: 'standard' } },
    });
    const agent = await anAgent(server).inOrganization(id).granted('web.search').create();
    expect((await agent.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200).at('status')).toBe('executed');
    (await root.post('/api/v1/users', { email: 'first@acme.test', role: 'owner', organizationId: id })).expect(201);
  });

  test('into a tenant that is there, and no other', async () => {
    const tenantId = await aTenant();
    expect((await root.post(ORGANIZATIONS, { name: 'Sub', tenant_id: tenantId })).expect(201).at('organization.tenantId')).toBe(tenantId);
    (await root.post(ORGANIZATIONS, { name: 'Sub', tenantId: newId('ten') })).expect(404, 'NOT_FOUND');
  });

  test('an owner makes them in their own tenant, and acts as owner there at once', async () => {
    const tenantId = await aTenant();
    const home = await anOrganization(server, { tenantId });
    const owner = await aPerson(server, 'owner', { organizationId: home });
    const made = (await owner.client.post(ORGANIZATIONS, { name: 'Second' })).expect(201);
    const second = made.text('organization.id');
    expect(made.at('organization.tenantId')).toBe(tenantId);
    expect((await owner.client.post(ORGANIZATIONS, { name: 'Third', tenantId })).expect(201).at('organization.tenantId')).toBe(tenantId);
    (await owner.client.patch(`${ORGANIZATIONS}/${second}`, { settings: { separationOfDuties: 'strict' } })).expect(200);
    (await owner.client.post('/api/v1/users', { email: 'a@second.test', role: 'owner', organizationId: second })).expect(201);
    (await owner.client.post('/api/v1/agents', { name: 'there', organizationId: second })).expect(201);
    expect((await owner.client.get(ORGANIZATIONS)).expect(200).number('total')).toBe(3);
    expect(await entriesOf(server, 'admin.organization_created', second)).toMatchObject([{ actorId: owner.id, metadata: { tenantId } }]);
  });

  test("another's tenant reads like none; without a tenant an owner makes nothing; admins never do", async () => {
    const [tenantId, foreign] = [await aTenant(), await aTenant()];
    const home = await anOrganization(server, { tenantId });
    const owner = await aPerson(server, 'owner', { organizationId: home });
    const there = (await owner.client.post(ORGANIZATIONS, { name: 'x', tenantId: foreign })).expect(404);
    const nowhere = (await owner.client.post(ORGANIZATIONS, { name: 'x', tenantId: newId('ten') })).expect(404);
    expect(there.at('detail')).toBe(nowhere.at('detail'));
    const lone = await aPerson(server, 'owner', { organizationId: await anOrganization(server) });
    const refused = (await lone.client.post(ORGANIZATIONS, { name: 'x' })).expect(403, 'FORBIDDEN');
    expect(refused.text('detail')).toMatch(/tenant/);
    for (const role of ['admin', 'member', 'viewer'] as const) {
      const person = await aPerson(server, role, { organizationId: home });
      (await person.client.post(ORGANIZATIONS, { name: 'x' })).expect(403, 'FORBIDDEN');
    }
  });

  test('a retry with the same key makes one', async () => {
    const keyed = root.with({ 'idempotency-key': 'make-org-1' });
    const first = (await keyed.post(ORGANIZATIONS, { name: 'Once' })).expect(201);
    const again = (await keyed.post(ORGANIZATIONS, { name: 'Once' })).expect(201);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });
});

describe('who sees which', () => {
  test('root all, an owner those of the tenant, everybody else their own', async () => {
    const tenantId = await aTenant();
    const [home, sibling, foreign] = [
      await anOrganization(server, { tenantId }), await anOrganization(server, { tenantId }), await anOrganization(server),
    ];
    const owner = await aPerson(server, 'owner', { organizationId: home });
    expect((await idsOf(owner.client)).sort()).toEqual([home, sibling].sort());
    (await owner.client.get(`${ORGANIZATIONS}/${sibling}`)).expect(200);
    (await owner.client.get(`${ORGANIZATIONS}/${foreign}`)).expect(404, 'NOT_FOUND');
    for (const role of ['admin', 'member', 'viewer'] as const) {
      const person = await aPerson(server, role, { organizationId: home });
      expect(await idsOf(person.client)).toEqual([home]);
      (await person.client.get(`${ORGANIZATIONS}/${home}`)).expect(200);
      for (const id of [sibling, foreign, ABSENT]) (await person.client.get(`${ORGANIZATIONS}/${id}`)).expect(404, 'NOT_FOUND');
    }
    expect(await idsOf(root)).toEqual(expect.arrayContaining([home, sibling, foreign, await firstOrganization(server)]));
  });

  test('in pages, newest first', async () => {
    const page = (await root.get(ORGANIZATIONS, { query: { limit: 1 } })).expect(200);
    const next = (await root.get(ORGANIZATIONS, { query: { limit: 1, cursor: page.text('nextCursor') } })).expect(200);
    expect(page.text('organizations.0.id') > next.text('organizations.0.id')).toBe(true);
    expect(page.number('total')).toBe(next.number('total'));
  });
});

describe('changing one', () => {
  test('an admin renames; only an owner or root changes separation of duties', async () => {
    const organizationId = await anOrganization(server);
    const [owner, admin, member] = await Promise.all(
      (['owner', 'admin', 'member'] as const).map((role) => aPerson(server, role, { organizationId })),
    );
    const path = `${ORGANIZATIONS}/${organizationId}`;
    expect((await admin!.client.patch(path, { name: 'Renamed' })).expect(200).at('organization.name')).toBe('Renamed');
    (await admin!.client.patch(path, { settings: { separationOfDuties: 'strict' } })).expect(403, 'FORBIDDEN');
    (await admin!.client.patch(path, { settings: { separation_of_duties: 'standard' } })).expect(200);
    (await member!.client.patch(path, { name: 'x' })).expect(403, 'FORBIDDEN');
    const strict = (await owner!.client.patch(path, { settings: { separationOfDuties: 'strict' } })).expect(200);
    expect(strict.at('organization')).toMatchObject({ name: 'Renamed', settings: { separationOfDuties: 'strict' } });
    (await admin!.client.patch(path, { settings: { separationOfDuties: 'standard' } })).expect(403, 'FORBIDDEN');
    (await root.patch(path, { settings: { separationOfDuties: 'standard' } })).expect(200);
    expect((await entriesOf(server, 'admin.organization_updated', organizationId)).map(({ metadata }) => metadata.settings)).toEqual([
      { separationOfDuties: 'standard' }, { separationOfDuties: 'strict' }, { separationOfDuties: 'standard' }, undefined,
    ]);
  });

  test('an admin lets mails decide, and takes it back; what is left out stays', async () => {
    const organizationId = await anOrganization(server);
    const admin = await aPerson(server, 'admin', { organizationId });
    const path = `${ORGANIZATIONS}/${organizationId}`;
    const set = async (settings: Record<string, unknown>) =>
      (await admin.client.patch(path, { settings })).expect(200).at('organization.settings.decideByMail');
    expect(await set({ decide_by_mail: true })).toBe(true);
    expect(await set({ separationOfDuties: 'standard' })).toBe(true);
    expect((await admin.client.get(path)).expect(200).at('organization.settings.decideByMail')).toBe(true);
    expect(await set({ decideByMail: false })).toBe(false);
    expect((await entriesOf(server, 'admin.organization_updated', organizationId)).map(({ metadata }) => metadata.settings)).toEqual([
      { decideByMail: false }, { separationOfDuties: 'standard' }, { decideByMail: true },
    ]);
  });

  test('a change raises the revision that decisions compare', async () => {
    const organizationId = await anOrganization(server);
    const revision = async () =>
      (await server.sql<{ revision: string }>('select revision from organizations where id = $1', [organizationId]))[0]!.revision;
    const before = Number(await revision());
    (await root.patch(`${ORGANIZATIONS}/${organizationId}`, { settings: { separationOfDuties: 'strict' } })).expect(200);
    expect(Number(await revision())).toBe(before + 1);
  });

  test('words that are none are refused', async () => {
    const path = `${ORGANIZATIONS}/${await anOrganization(server)}`;
    for (const settings of [{ decideByMail: 'yes' }, { decide_by_mail: 1 }, { scanPii: 'never' }, { separationOfDuties: 'off' }]) {
      (await root.patch(path, { settings })).expect(400, 'VALIDATION_FAILED');
    }
    for (const name of ['', ' ', 'a\nb', 'x'.repeat(201), 7, null]) (await root.patch(path, { name })).expect(400, 'VALIDATION_FAILED');
    (await root.post(ORGANIZATIONS, {})).expect(400, 'VALIDATION_FAILED');
  });

  test("another's cannot be changed, and there is no way to delete one", async () => {
    const foreign = await anOrganization(server, { name: 'Untouched' });
    const owner = await aPerson(server, 'owner', { organizationId: await anOrganization(server) });
    (await owner.client.patch(`${ORGANIZATIONS}/${foreign}`, { name: 'Mine' })).expect(404, 'NOT_FOUND');
    expect((await root.get(`${ORGANIZATIONS}/${foreign}`)).at('organization.name')).toBe('Untouched');
    (await root.delete(`${ORGANIZATIONS}/${foreign}`)).expect(405, 'METHOD_NOT_ALLOWED');
  });
});

test('SEPARATION_OF_DUTIES is the setting of new organizations, the first one included', async () => {
  const strict = await startServer({ database: 'empty', env: { SEPARATION_OF_DUTIES: 'strict' } });
  try {
    const client = asRoot(strict);
    const list = (await client.get(ORGANIZATIONS)).expect(200);
    expect(list.at('organizations.0.settings.separationOfDuties')).toBe('strict');
    const made = (await client.post(ORGANIZATIONS, { name: 'New' })).expect(201);
    expect(made.at('organization.settings.separationOfDuties')).toBe('strict');
  } finally {
    await strict.stop();
  }
});
