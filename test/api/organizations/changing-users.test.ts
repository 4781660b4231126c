import { describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { entriesOf } from '../../support/log/entries.js';
import { anOrganization, aPerson, type BuiltPerson } from '../../support/builders/people.js';
import type { TestServer } from '../../support/servers/server.js';
import {
  startTwoServers, USERS, ABSENT, server, replica, root, anAddress, theRoles, idsOf,
} from '../../support/builders/roles-at-two-servers.js';

startTwoServers();

async function activeOwners(organizationId: string): Promise<number> {
  const rows = await server.sql(`select 1 from users where organization_id = $1 and role = 'owner' and status = 'active'`, [
    organizationId,
  ]);
  return rows.length;
}

function asOn(at: TestServer, { key }: BuiltPerson): Client {
  return asRoot(at).with({ authorization: `Bearer ${key}` });
}

describe('changing', () => {
  test('what is left out stays, null clears, and the entry says what was set', async () => {
    const { admin, viewer } = await theRoles();
    const path = `${USERS}/${viewer.id}`;
    (await admin.client.patch(path, { name: 'Grace', avatarUrl: 'https://example.test/g.png' })).expect(200);
    const cleared = (await admin.client.patch(path, { avatar_url: null, role: 'member' })).expect(200);
    expect(cleared.at('user')).toMatchObject({ name: 'Grace', avatarUrl: null, role: 'member', email: viewer.email });
    const [second, first] = await entriesOf(server, 'admin.user_updated', viewer.organizationId);
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
    expect(await entriesOf(server, 'admin.user_deleted', member.organizationId)).toMatchObject([{ metadata: { userId: member.id } }]);
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
