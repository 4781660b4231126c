import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { as, asRoot } from '../../support/http/actors.js';
import { approveBy, aRequest } from '../../support/builders/requests.js';
import { requestOf } from '../../support/builders/gate.js';
import { startProvider, type TestProvider } from '../../support/sign-in/oidc-provider.js';
import { anOrganization, aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { linked } from '../../support/sign-in/provider-people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { asSession, aTenant } from '../../support/builders/tenants.js';

// What the identity provider took away stays away, by whatever credential and whoever asks.

let provider: TestProvider;
let server: TestServer;

beforeAll(async () => {
  provider = await startProvider();
  server = await startServer({ env: provider.env });
});

afterAll(async () => {
  await server?.stop();
  await provider?.close();
});

/** Puts down that the provider that is set, or another one, says this of somebody since now. */
async function saysOf(person: BuiltPerson, role: string | null, { issuer = provider.issuer, subscribed = true } = {}): Promise<void> {
  await linked(server, provider, person);
  await server.sql(
    `update user_identities set issuer = $2, claimed_role = $3, claimed_role_since = clock_timestamp(), has_subscription = $4
     where user_id = $1`,
    [person.id, issuer, role, subscribed],
  );
}

test('a personal key gives no role, no organization and no subscription back', async () => {
  const { organizationIds: [home, second] } = await aTenant(server, 'teams', { organizations: 2 });
  const owner = await aPerson(server, 'owner', { organizationId: home! });
  const { client: session, id } = await asSession(server, owner, { method: 'provider' });
  await server.sql('update sessions set issuer = $2 where id = $1', [id, provider.issuer]);
  await saysOf(owner, 'viewer', { subscribed: false });
  const made = (await session.post(`/api/v1/users/${owner.id}/keys`, { name: 'a way back' })).expect(201);
  for (const client of [as(server, made.text('secret')), owner.client]) {
    const me = (await client.get('/api/v1/auth/me')).expect(200);
    expect([me.text('role'), me.text('user.role'), me.text('tenant.tier')]).toEqual(['viewer', 'owner', 'personal']);
    (await client.post('/api/v1/users', { email: 'no@viewer.example' })).expect(403, 'FORBIDDEN');
    (await client.get(`/api/v1/organizations/${second}`)).expect(404);
  }
  // A higher claim gives nothing, and a provider that is set no more takes nothing.
  await saysOf(owner, 'owner');
  (await owner.client.get(`/api/v1/organizations/${second}`)).expect(200);
  await server.sql(`update users set role = 'member' where id = $1`, [owner.id]);
  expect((await owner.client.get('/api/v1/auth/me')).expect(200).text('role')).toBe('member');
  await saysOf(owner, 'viewer', { issuer: 'https://former.example', subscribed: false });
  const me = (await owner.client.get('/api/v1/auth/me')).expect(200);
  expect([me.text('role'), me.text('tenant.tier')]).toEqual(['member', 'teams']);
});

test('a vote of somebody who is a viewer since is not counted, nor do requests stand in their queue', async () => {
  const organizationId = await anOrganization(server);
  const [ann, bob, cid] = await Promise.all(Array.from({ length: 3 }, () => aPerson(server, 'admin', { organizationId })));
  const request = await aRequest(server, { organizationId, grant: { quorum: { approvals: 2 } } });
  const queueOf = async ({ id }: BuiltPerson) =>
    (await asRoot(server).get('/api/v1/hitl', { query: { assignedTo: id } })).expect(200).number('total');
  (await approveBy(ann!, request)).expect(200);
  expect(await queueOf(ann!)).toBe(1);

  await saysOf(ann!, 'viewer');
  expect(await queueOf(ann!)).toBe(0);
  expect(await queueOf(bob!)).toBe(1);
  const escalated = await asRoot(server).post(`/api/v1/hitl/${request.id}/escalate`, { escalateTo: ann!.id, reason: 'Whoever may.' });
  expect(escalated.status).toBeGreaterThanOrEqual(400);
  (await approveBy(bob!, request)).expect(200);
  expect(await requestOf(server, request.id)).not.toMatchObject({ status: 'approved' });
  (await approveBy(cid!, request)).expect(200);
  expect(await requestOf(server, request.id)).toMatchObject({ status: 'approved', decided_by: cid!.id });
});

test('an owner who is less by the provider decides nowhere else in the tenant', async () => {
  const { organizationIds: [home, second] } = await aTenant(server, 'teams', { organizations: 2 });
  const owner = await aPerson(server, 'owner', { organizationId: home! });
  const admin = await aPerson(server, 'admin', { organizationId: second! });
  const request = await aRequest(server, { organizationId: second!, grant: { quorum: { approvals: 2 } } });
  (await approveBy(owner, request)).expect(200);
  await saysOf(owner, 'admin');
  (await approveBy(admin, request)).expect(200);
  expect(await requestOf(server, request.id)).not.toMatchObject({ status: 'approved' });
  await saysOf(owner, 'owner');
  (await approveBy(await aPerson(server, 'admin', { organizationId: second! }), request)).expect(200);
  expect(await requestOf(server, request.id)).toMatchObject({ status: 'approved' });
});

test('a session that is older than ten minutes makes no key; a key still does', async () => {
  const person = await aPerson(server, 'member');
  const keys = `/api/v1/users/${person.id}/keys`;
  const { client } = await asSession(server, person, { age: 700 });
  (await client.post(keys, { name: 'for ever' })).expect(403, 'FORBIDDEN');
  expect((await person.client.get(keys)).expect(200).number('total')).toBe(1);
  (await (await asSession(server, person)).client.post(keys, { name: 'fresh' })).expect(201);
  (await person.client.post(keys, { name: 'the next one' })).expect(201);
});
