import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import type { AuditEntry } from '../../support/log/entries.js';
import { anAgent } from '../../support/builders/agents.js';
import { anOrganization, aPerson, type BuiltPerson, type Role } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const USERS = '/api/v1/users';
const ABSENT = 'usr_00000000000000000000000000absent0000';

let server: TestServer;
let replica: TestServer;
let root: Client;
let addresses = 0;

beforeAll(async () => {
  server = await startServer();
  replica = await startServer({ replicaOf: server });
  root = asRoot(server);
});

afterAll(async () => {
  await replica.stop();
  await server.stop();
});

const anAddress = () => `person-${++addresses}@example.test`;

async function theRoles(organizationId?: string): Promise<Record<Role, BuiltPerson>> {
  const terms = { organizationId: organizationId ?? (await anOrganization(server)) };
  const [owner, admin, member, viewer] = await Promise.all([
    aPerson(server, 'owner', terms), aPerson(server, 'admin', terms), aPerson(server, 'member', terms), aPerson(server, 'viewer', terms),
  ]);
  return { owner, admin, member, viewer };
}

async function entriesOf(organizationId: string, event: string): Promise<AuditEntry[]> {
  return (await root.get('/api/v1/audit', { query: { organizationId, event } })).expect(200).list('entries') as AuditEntry[];
}

const idsOf = async (client: Client, query: Record<string, string | number> = {}) =>
  ((await client.get(USERS, { query })).expect(200).list('users') as { id: string }[]).map(({ id }) => id);

async function activeOwners(organizationId: string): Promise<number> {
  const rows = await server.sql(`select 1 from users where organization_id = $1 and role = 'owner' and status = 'active'`, [
    organizationId,
  ]);
  return rows.length;
}

describe('making accounts', () => {
  test('root makes the first owner of an organization that never had one', async () => {
    const organizationId = await anOrganization(server);
    const body = { email: 'Ada@Example.test', name: 'Ada', avatar_url: 'https://example.test/a.png', role: 'owner', organizationId };
    const made = (await root.post(USERS, body)).expect(201);
    const id = made.text('user.id');
    expect(made.at('user')).toEqual({
      id, email: 'Ada@Example.test', name: 'Ada', avatarUrl: 'https://example.test/a.png', role: 'owner', organizationId,
      status: 'active', createdAt: expect.any(String),
    });
    expect((await root.get(`${USERS}/${id}`)).expect(200).at('user')).toEqual(made.at('user'));
    expect(await entriesOf(organizationId, 'admin.user_created')).toMatchObject([
      { actorId: 'root', metadata: { userId: id, email: 'Ada@Example.test', name: 'Ada', role: 'owner', occasion: 'made' } },
    ]);
  });

  test('an admin makes them in their organization: viewers unless said otherwise, none above themselves', async () => {
    const { admin, owner } = await theRoles();
    const made = (await admin.client.post(USERS, { email: anAddress() })).expect(201);
    expect(made.at('user')).toMatchObject({ role: 'viewer', name: null, avatarUrl: null, organizationId: admin.organizationId });
    (await admin.client.post(USERS, { email: anAddress(), role: 'admin' })).expect(201);
    (await admin.client.post(USERS, { email: anAddress(), role: 'owner' })).expect(403, 'FORBIDDEN');
    (await owner.client.post(USERS, { email: anAddress(), role: 'owner' })).expect(201);
  });

  test('members, viewers and agents make none', async () => {
    const { member, viewer } = await theRoles();
    const agent = await anAgent(server).create();
    for (const client of [member.client, viewer.client, agent.client]) {
      (await client.post(USERS, { email: anAddress() })).expect(403, 'FORBIDDEN');
    }
  });

  test("another organization's id makes nobody there", async () => {
    const { owner } = await theRoles();
    const foreign = await anOrganization(server);
    (await owner.client.post(USERS, { email: anAddress(), organizationId: foreign })).expect(404, 'NOT_FOUND');
    expect(await idsOf(root, { organizationId: foreign })).toEqual([]);
  });

  test('an address is taken once among the active accounts of an organization, whatever its case', async () => {
    const { admin } = await theRoles();
    const email = anAddress();
    const first = (await admin.client.post(USERS, { email })).expect(201).text('user.id');
    (await admin.client.post(USERS, { email: email.toUpperCase() })).expect(409, 'CONFLICT');
    (await root.post(USERS, { email, organizationId: await anOrganization(server) })).expect(201);
    const second = (await admin.client.post(USERS, { email: anAddress() })).expect(201).text('user.id');
    (await admin.client.patch(`${USERS}/${second}`, { email: email.toUpperCase() })).expect(409, 'CONFLICT');
    (await admin.client.patch(`${USERS}/${first}`, { email: email.toUpperCase() })).expect(200);
    (await admin.client.delete(`${USERS}/${first}`)).expect(204);
    (await admin.client.post(USERS, { email })).expect(201);
  });

  test('one of many with the same address at once gets it', async () => {
    const { admin } = await theRoles();
    const email = anAddress();
    const clients = [admin.client, { ...admin.client, post: asOn(replica, admin).post }];
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => clients[i % 2]!.post(USERS, { email })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)]);
  });

  test.each([
    ['no address', {}],
    ['not one', { email: 'ada' }],
    ['two lines', { email: 'ada@example.test\nbcc:eve@example.test' }],
    ['two of them', { email: 'ada@example.test,eve@example.test' }],
    ['too long', { email: `${'a'.repeat(250)}@b.cd` }],
    ['look-alike letters', { email: 'аda@example.test' }],
    ['an unknown role', { email: 'a@b.cd', role: 'root' }],
    ['a script for a picture', { email: 'a@b.cd', avatarUrl: 'javascript:alert(1)' }],
    ['a picture in plain http', { email: 'a@b.cd', avatarUrl: 'http://example.test/a.png' }],
    ['a password in an address', { email: 'a@b.cd', avatarUrl: 'https://me:secret@example.test/' }],
    ['a long picture', { email: 'a@b.cd', avatarUrl: `https://example.test/${'a'.repeat(2_000)}` }],
    ['a name of two lines', { email: 'a@b.cd', name: 'Ada\nLovelace' }],
  ])('%s: 400', async (_, body) => {
    (await root.post(USERS, body)).expect(400, 'VALIDATION_FAILED');
  });

  test('what only the service says is not taken', async () => {
    const made = (await root.post(USERS, { email: anAddress(), id: ABSENT, status: 'erased', vouchedBy: 'x' })).expect(201);
    expect(made.at('user')).toMatchObject({ status: 'active' });
    expect(made.text('user.id')).not.toBe(ABSENT);
  });

  test('a retry with the same key makes one', async () => {
    const keyed = root.with({ 'idempotency-key': 'make-user-1' });
    const body = { email: anAddress() };
    const first = (await keyed.post(USERS, body)).expect(201);
    expect((await keyed.post(USERS, body)).expect(201).body).toEqual(first.body);
  });
});

function asOn(at: TestServer, { key }: BuiltPerson): Client {
  return asRoot(at).with({ authorization: `Bearer ${key}` });
}

describe('reading', () => {
  test('everybody sees those of their organization; agents nobody', async () => {
    const people = await theRoles();
    const foreign = await aPerson(server, 'owner', { organizationId: await anOrganization(server) });
    const ids = Object.values(people).map(({ id }) => id).sort();
    for (const { client, id } of Object.values(people)) {
      expect((await idsOf(client)).sort()).toEqual(ids);
      expect(await idsOf(client, { organizationId: foreign.organizationId })).toEqual([]);
      (await client.get(`${USERS}/${id}`)).expect(200);
      (await client.get(`${USERS}/${foreign.id}`)).expect(404, 'NOT_FOUND');
      (await client.get(`${USERS}/${ABSENT}`)).expect(404, 'NOT_FOUND');
    }
    const agent = await anAgent(server).create();
    (await agent.client.get(USERS)).expect(403, 'FORBIDDEN');
  });

  test('me is oneself, and nobody for root and agents', async () => {
    for (const { client, id, role } of Object.values(await theRoles())) {
      expect((await client.get(`${USERS}/me`)).expect(200).at('user')).toMatchObject({ id, role, status: 'active' });
    }
    (await root.get(`${USERS}/me`)).expect(403, 'FORBIDDEN');
    const agent = await anAgent(server).create();
    (await agent.client.get(`${USERS}/me`)).expect(403, 'FORBIDDEN');
  });

  test('filters, pages, newest first', async () => {
    const { owner, admin, member, viewer } = await theRoles();
    expect(await idsOf(owner.client, { role: 'admin' })).toEqual([admin.id]);
    (await owner.client.delete(`${USERS}/${viewer.id}`)).expect(204);
    expect(await idsOf(owner.client, { status: 'deleted' })).toEqual([viewer.id]);
    expect((await idsOf(owner.client)).sort()).toEqual([owner.id, admin.id, member.id].sort());
    const page = (await owner.client.get(USERS, { query: { limit: 2 } })).expect(200);
    expect(page.number('total')).toBe(3);
    const rest = (await owner.client.get(USERS, { query: { limit: 2, cursor: page.text('nextCursor') } })).expect(200);
    const seen = [...page.list('users'), ...rest.list('users')].map((user) => (user as { id: string }).id);
    expect(seen).toEqual([...seen].sort().reverse());
    expect(new Set(seen).size).toBe(3);
    (await owner.client.get(USERS, { query: { status: 'gone' } })).expect(400, 'VALIDATION_FAILED');
  });
});

describe('changing', () => {
  test('what is left out stays, null clears, and the entry says what was set', async () => {
    const { admin, viewer } = await theRoles();
    const path = `${USERS}/${viewer.id}`;
    (await admin.client.patch(path, { name: 'Grace', avatarUrl: 'https://example.test/g.png' })).expect(200);
    const cleared = (await admin.client.patch(path, { avatar_url: null, role: 'member' })).expect(200);
    expect(cleared.at('user')).toMatchObject({ name: 'Grace', avatarUrl: null, role: 'member', email: viewer.email });
    const [second, first] = await entriesOf(viewer.organizationId, 'admin.user_updated');
    expect(first!.metadata).toEqual({ userId: viewer.id, name: 'Grace', avatarUrl: 'https://example.test/g.png' });
    expect(second!.metadata).toEqual({ userId: viewer.id, role: 'member', cleared: ['avatarUrl'] });
    expect(second!.actorId).toBe(admin.id);
  });

  test('a new role begins now; the same one goes on', async () => {
    const { admin, viewer } = await theRoles();
    const since = async () =>
      (await server.sql<{ at: Date }>('select role_since as at from users where id = $1', [viewer.id]))[0]!.at.getTime();
    const before = await since();
    (await admin.client.patch(`${USERS}/${viewer.id}`, { role: 'viewer', name: 'x' })).expect(200);
    expect(await since()).toBe(before);
    (await admin.client.patch(`${USERS}/${viewer.id}`, { role: 'member' })).expect(200);
    expect(await since()).toBeGreaterThan(before);
  });

  test('by rank: nobody above oneself, not one\'s own role, none above one\'s own', async () => {
    const { owner, admin, member, viewer } = await theRoles();
    for (const call of [
      () => admin.client.patch(`${USERS}/${owner.id}`, { name: 'x' }),
      () => admin.client.patch(`${USERS}/${owner.id}`, { role: 'viewer' }),
      () => admin.client.delete(`${USERS}/${owner.id}`),
      () => admin.client.patch(`${USERS}/${admin.id}`, { role: 'owner' }),
      () => admin.client.patch(`${USERS}/${admin.id}`, { role: 'viewer' }),
      () => admin.client.patch(`${USERS}/${viewer.id}`, { role: 'owner' }),
      () => owner.client.patch(`${USERS}/${owner.id}`, { role: 'admin' }),
      () => member.client.patch(`${USERS}/${viewer.id}`, { name: 'x' }),
      () => member.client.patch(`${USERS}/${member.id}`, { name: 'x' }),
      () => viewer.client.delete(`${USERS}/${viewer.id}`),
    ]) {
      (await call()).expect(403, 'FORBIDDEN');
    }
    (await admin.client.patch(`${USERS}/${admin.id}`, { name: 'Myself' })).expect(200);
    (await owner.client.patch(`${USERS}/${viewer.id}`, { role: 'owner' })).expect(200);
    (await owner.client.patch(`${USERS}/${viewer.id}`, { role: 'viewer' })).expect(200);
  });

  test('a role counts at the next call, on every replica', async () => {
    const { owner, admin } = await theRoles();
    const there = asOn(replica, admin);
    (await there.post(USERS, { email: anAddress() })).expect(201);
    (await owner.client.patch(`${USERS}/${admin.id}`, { role: 'viewer' })).expect(200);
    (await there.post(USERS, { email: anAddress() })).expect(403, 'FORBIDDEN');
    expect((await there.get(`${USERS}/me`)).expect(200).at('user.role')).toBe('viewer');
    (await owner.client.patch(`${USERS}/${admin.id}`, { role: 'admin' })).expect(200);
    (await there.post(USERS, { email: anAddress() })).expect(201);
  });

  test("another organization's people cannot be touched", async () => {
    const { owner } = await theRoles();
    const foreign = await aPerson(server, 'viewer', { organizationId: await anOrganization(server), name: 'Untouched' });
    const change = (await owner.client.patch(`${USERS}/${foreign.id}`, { name: 'Mine' })).expect(404, 'NOT_FOUND');
    const absent = (await owner.client.patch(`${USERS}/${ABSENT}`, { name: 'Mine' })).expect(404, 'NOT_FOUND');
    expect(change.at('detail')).toBe(absent.at('detail'));
    (await owner.client.delete(`${USERS}/${foreign.id}`)).expect(404, 'NOT_FOUND');
    expect((await foreign.client.get(`${USERS}/me`)).expect(200).at('user.name')).toBe('Untouched');
  });

  test("an owner acts in their tenant's other organizations; an admin does not", async () => {
    const tenantId = `ten_${'0'.repeat(20)}users`;
    const [home, sibling] = [await anOrganization(server, { tenantId }), await anOrganization(server, { tenantId })];
    const owner = await aPerson(server, 'owner', { organizationId: home });
    const admin = await aPerson(server, 'admin', { organizationId: home });
    const there = await aPerson(server, 'viewer', { organizationId: sibling });
    (await owner.client.patch(`${USERS}/${there.id}`, { role: 'member' })).expect(200);
    expect(await idsOf(owner.client, { organizationId: sibling })).toEqual([there.id]);
    (await admin.client.patch(`${USERS}/${there.id}`, { role: 'viewer' })).expect(404, 'NOT_FOUND');
    (await owner.client.delete(`${USERS}/${there.id}`)).expect(204);
  });
});

describe('closing', () => {
  test('the profile stays, its keys are dead everywhere, and it can be neither changed nor closed again', async () => {
    const { owner, member } = await theRoles();
    (await asOn(replica, member).get(`${USERS}/me`)).expect(200);
    (await owner.client.delete(`${USERS}/${member.id}`)).expect(204);
    for (const at of [server, replica]) (await asOn(at, member).get(`${USERS}/me`)).expect(401, 'UNAUTHENTICATED');
    const profile = (await owner.client.get(`${USERS}/${member.id}`)).expect(200).at('user');
    expect(profile).toMatchObject({ status: 'deleted', email: member.email });
    (await owner.client.patch(`${USERS}/${member.id}`, { name: 'x' })).expect(409, 'CONFLICT');
    (await owner.client.delete(`${USERS}/${member.id}`)).expect(409, 'CONFLICT');
    (await root.post(`${USERS}/${member.id}/keys`, { name: 'x' })).expect(409, 'CONFLICT');
    const keys = await server.sql<{ by: string }>('select revoked_by as by from personal_keys where user_id = $1', [member.id]);
    expect(keys).toEqual([{ by: owner.id }]);
    expect(await entriesOf(member.organizationId, 'admin.user_deleted')).toMatchObject([{ metadata: { userId: member.id } }]);
  });

  test('one may close one\'s own account, but not as the last owner', async () => {
    const { owner, admin } = await theRoles();
    (await admin.client.delete(`${USERS}/${admin.id}`)).expect(204);
    (await owner.client.delete(`${USERS}/${owner.id}`)).expect(409, 'CONFLICT');
    (await root.delete(`${USERS}/${owner.id}`)).expect(409, 'CONFLICT');
    (await root.patch(`${USERS}/${owner.id}`, { role: 'admin' })).expect(409, 'CONFLICT');
    const other = await aPerson(server, 'owner', { organizationId: owner.organizationId });
    (await owner.client.delete(`${USERS}/${owner.id}`)).expect(204);
    (await root.patch(`${USERS}/${other.id}`, { role: 'viewer' })).expect(409, 'CONFLICT');
  });

  // Each pair on two replicas at once. Whoever comes second finds the other gone, or its own rights: never nobody left.
  const PAIRS: readonly (readonly [string, (one: BuiltPerson, other: BuiltPerson) => Promise<{ status: number }>[]])[] = [
    ['two owners remove each other', (one, other) => [
      asOn(server, one).delete(`${USERS}/${other.id}`), asOn(replica, other).delete(`${USERS}/${one.id}`),
    ]],
    ['two owners demote each other', (one, other) => [
      asOn(server, one).patch(`${USERS}/${other.id}`, { role: 'viewer' }),
      asOn(replica, other).patch(`${USERS}/${one.id}`, { role: 'viewer' }),
    ]],
    ['two owners leave', (one, other) => [
      asOn(server, one).delete(`${USERS}/${one.id}`), asOn(replica, other).delete(`${USERS}/${other.id}`),
    ]],
    ['root removes one while the other leaves', (one, other) => [
      root.delete(`${USERS}/${one.id}`), asOn(replica, other).delete(`${USERS}/${other.id}`),
    ]],
    ['root demotes both', (one, other) => [
      root.patch(`${USERS}/${one.id}`, { role: 'admin' }), asRoot(replica).patch(`${USERS}/${other.id}`, { role: 'admin' }),
    ]],
  ];

  test.each(PAIRS)('%s at the same moment: one stays', async (_, both) => {
    for (let round = 0; round < 20; round++) {
      const organizationId = await anOrganization(server);
      const [one, other] = [await aPerson(server, 'owner', { organizationId }), await aPerson(server, 'owner', { organizationId })];
      const statuses = (await Promise.all(both(one, other))).map(({ status }) => status);
      expect(statuses.filter((status) => status < 300)).toHaveLength(1);
      expect([401, 403, 409]).toContain(statuses.find((status) => status >= 300));
      expect(await activeOwners(organizationId)).toBe(1);
    }
  });
});
