import { createHash, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../src/domain/ids.js';
import { anonymous, asRoot, type Client } from '../../support/http/actors.js';
import { eventually } from '../../support/running/eventually.js';
import { anOrganization, aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { aBrowserOf, cookieOf, sessionsOf, signIn } from '../../support/sign-in/provider-login.js';
import { asProvider, linked } from '../../support/sign-in/provider-people.js';
import { aTenant } from '../../support/builders/tenants.js';
import { entriesOf } from '../../support/log/entries.js';
import { startProviderBeside, provider, server, me, shows, linksOf } from '../../support/sign-in/shown-tokens.js';

startProviderBeside();

const seconds = () => Math.floor(Date.now() / 1_000);

/** An open invitation, past the API. */
async function anInvitation(
  organizationId: string, email: string, role: string, { by = 'root', userId = null as string | null, hours = 1 } = {},
): Promise<string> {
  const id = newId('inv');
  await server.sql(
    `insert into invitations (organization_id, id, email, email_folded, role, user_id, token_hash, delivery, invited_by, created_at,
       expires_at)
     values ($1, $2, $3, lower($3), $4, $5, $6, 'hand', $7, clock_timestamp(), clock_timestamp() + $8 * interval '1 hour')`,
    [organizationId, id, email, role, userId, createHash('sha256').update(id).digest('hex'), by, hours],
  );
  return id;
}

const NEW = () => `new-${randomUUID().slice(0, 8)}`;

describe('a session at the provider', () => {
  const scenario = () => ({ server, provider, stop: () => Promise.resolve() });

  test('that a renewal says less of stays as limited as it was, until the next sign-in', async () => {
    const [sub, { id: tenant_id }] = [NEW(), await aTenant(server, 'enterprise')];
    const browser = await aBrowserOf(provider, sub, { tenant_id, role: 'viewer' });
    expect((await signIn(scenario(), browser)).status).toBe(200);
    await provider.claims(sub, { tenant_id });
    await server.sql(`update user_identities set claims_at = claims_at - interval '5 seconds' where subject = $1`, [sub]);
    const [{ user_id: id } = { user_id: '' }] = await sessionsOf(server, sub);
    await server.sql(`update sessions set renew_at = clock_timestamp() - interval '1 second' where user_id = $1`, [id]);
    await eventually(async () => {
      await me(anonymous(server).with({ cookie: cookieOf(browser) }));
      expect((await sessionsOf(server, sub))[0]!.renew_at!.getTime()).toBeGreaterThan(Date.now());
    });
    const claimed = () => server.sql('select claimed_role from user_identities where subject = $1', [sub]);
    expect(await claimed()).toEqual([{ claimed_role: 'viewer' }]);
    expect((await signIn(scenario(), await aBrowserOf(provider, sub, { tenant_id }))).status).toBe(200);
    expect(await claimed()).toEqual([{ claimed_role: null }]);
  });

  test('that it has ended while somebody comes back from it begins none here', async () => {
    const [sub, sid, { id: tenant_id }] = [NEW(), NEW(), await aTenant(server, 'enterprise')];
    await provider.tamper({ claims: { sid } });
    const body = new URLSearchParams({ logout_token: await provider.logoutToken({ sid }) });
    expect((await fetch(`${server.url}/api/v1/auth/backchannel-logout`, { method: 'POST', body })).status).toBe(200);
    expect((await signIn(scenario(), await aBrowserOf(provider, sub, { tenant_id }))).status).toBe(401);
    expect(await sessionsOf(server, sub)).toEqual([]);
    await provider.tamper({ claims: { sid: NEW() } });
    expect((await signIn(scenario(), await aBrowserOf(provider, sub, { tenant_id }))).status).toBe(200);
    await provider.tamper(undefined);
  });
});

describe('claims', () => {
  let organizationId: string;
  const person = (role: BuiltPerson['role']) => aPerson(server, role, { organizationId });
  const mayInvite = (client: Client) => client.get('/api/v1/organizations/' + organizationId);
  const changes = (client: Client) => client.post('/api/v1/teams', { name: `team ${randomUUID()}`, organizationId });

  beforeAll(async () => {
    organizationId = await anOrganization(server);
  });

  test('take away and give nothing', async () => {
    const [viewer, admin] = [await person('viewer'), await person('admin')];
    for (const claims of [{ role: 'owner' }, { role: 'owner', tier: 'enterprise', managed: true, has_subscription: true }]) {
      (await changes(await asProvider(server, provider, viewer, claims))).expect(403, 'FORBIDDEN');
    }
    (await changes(await asProvider(server, provider, admin, {}))).expect(201);
    (await changes(await asProvider(server, provider, admin, { role: 'owner' }))).expect(201);
    (await changes(await asProvider(server, provider, admin, { role: 'viewer' }))).expect(403, 'FORBIDDEN');
    // Said once, it holds for tokens that do not say it; and for those that said otherwise before.
    (await changes(await asProvider(server, provider, admin))).expect(403, 'FORBIDDEN');
    (await changes(await asProvider(server, provider, admin, { role: 'admin', iat: seconds() - 600 }))).expect(403, 'FORBIDDEN');
    (await changes(await asProvider(server, provider, admin, { role: 'admin', iat: seconds() + 2 }))).expect(201);
    const recorded = await entriesOf(server, 'auth.claims_changed', organizationId);
    expect(recorded.filter(({ metadata }) => metadata.userId === admin.id).map(({ actorId, metadata }) => [actorId, metadata.role]).sort())
      .toEqual([['system', 'admin'], ['system', 'owner'], ['system', 'viewer']]);
  });

  test('name the record that they belong to, or the token is another’s', async () => {
    const [one, other] = [await person('admin'), await person('admin')];
    (await mayInvite(await asProvider(server, provider, one, { user_id: one.id, tenant_id: organizationId }))).expect(200);
    (await mayInvite(await asProvider(server, provider, one, { user_id: other.id }))).expect(401, 'UNAUTHENTICATED');
    for (const tenant of [await anOrganization(server), newId('ten')]) {
      (await mayInvite(await asProvider(server, provider, one, { tenant_id: tenant }))).expect(403, 'FORBIDDEN');
    }
  });

  test('let an owner reach the tenant’s other organizations while the provider leaves them owner', async () => {
    const tenant = await aTenant(server, 'enterprise', { organizations: 2 });
    const [home, other] = tenant.organizationIds as [string, string];
    const owner = await aPerson(server, 'owner', { organizationId: home });
    const reads = (client: Client) => client.get(`/api/v1/organizations/${other}`);
    (await reads(await asProvider(server, provider, owner, { tenant_id: tenant.id }))).expect(200);
    (await reads(await asProvider(server, provider, owner, { role: 'admin' }))).expect(404);
  });

  test('end with the account, and follow what the record loses at once', async () => {
    const admin = await person('admin');
    const client = await asProvider(server, provider, admin, { role: 'admin' });
    (await changes(client)).expect(201);
    (await asRoot(server).patch(`/api/v1/users/${admin.id}`, { role: 'member' })).expect(200);
    (await changes(client)).expect(403, 'FORBIDDEN');
    (await asRoot(server).delete(`/api/v1/users/${admin.id}`)).expect(204);
    (await me(client)).expect(401, 'UNAUTHENTICATED');
    (await shows(await linked(server, provider, admin), {})).expect(401, 'UNAUTHENTICATED');
  });
});

describe('with tenants', () => {
  test('newcomers land where the claim says, and nowhere without one', async () => {
    const tenant = await aTenant(server, 'enterprise', { organizations: 2 });
    const gone = await aTenant(server, 'enterprise');
    await server.sql(`update tenants set status = 'deleted' where id = $1`, [gone.id]);
    const [first, second] = tenant.organizationIds as [string, string];
    expect((await shows(NEW(), { tenant_id: tenant.id })).expect(200).text('user.organizationId')).toBe(first);
    expect((await shows(NEW(), { tenant_id: second })).expect(200).text('user.organizationId')).toBe(second);
    for (const tenant_id of [newId('ten'), newId('org'), gone.id, gone.organizationIds[0], null]) {
      const sub = NEW();
      (await shows(sub, { tenant_id })).expect(403, 'FORBIDDEN');
      expect(await linksOf(sub)).toEqual([]);
    }
  });

  test('somebody whom two of them have invited is taken by neither, until it is said whose they are', async () => {
    const [one, other] = [await aTenant(server, 'enterprise'), await aTenant(server, 'enterprise')];
    const [sub, email] = [NEW(), `${NEW()}@example.test`];
    await anInvitation(one.organizationIds[0]!, email, 'admin');
    const foreign = await anInvitation(other.organizationIds[0]!, email, 'member');
    expect((await shows(sub, { email })).expect(403, 'FORBIDDEN').text('detail')).toMatch(/more than one customer/);
    expect(await linksOf(sub)).toEqual([]);
    expect((await shows(sub, { email, tenant_id: one.id })).expect(200).at('user')).toMatchObject({
      organizationId: one.organizationIds[0], role: 'admin',
    });
    expect(await server.sql('select accepted_by from invitations where id = $1', [foreign])).toEqual([{ accepted_by: null }]);
    // Of one tenant's, and of those without a tenant, the newest counts.
    const again = `${NEW()}@example.test`;
    const [first, second] = [await anOrganization(server), await anOrganization(server)];
    for (const organizationId of [first, second]) await anInvitation(organizationId, again, 'viewer');
    expect((await shows(NEW(), { email: again })).expect(200).text('user.organizationId')).toBe(second);
  });

  test('nobody comes in whom the subscription does not include, whatever the token says of it', async () => {
    const tenant = await aTenant(server, 'personal');
    (await shows(NEW(), { tenant_id: tenant.id, role: 'owner' })).expect(200);
    const sub = NEW();
    const refused = await shows(sub, { tenant_id: tenant.id, tier: 'enterprise', has_subscription: true });
    expect(refused.expect(403, 'TIER_REQUIRED').at('requiredTier')).toBe('teams');
    expect(await linksOf(sub)).toEqual([]);
    const together = await aTenant(server, 'personal');
    const replies = await Promise.all([NEW(), NEW(), NEW()].map((one) => shows(one, { tenant_id: together.id })));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 403, 403]);
  });
});
