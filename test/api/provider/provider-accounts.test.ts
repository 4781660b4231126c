import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../src/domain/ids.js';
import { asRoot, type Reply } from '../../support/http/actors.js';
import type { ClaimsOfUser } from '../../support/sign-in/oidc-provider.js';
import { anOrganization, aPerson } from '../../support/builders/people.js';
import { aBrowserOf, signIn } from '../../support/sign-in/provider-login.js';
import { startServer } from '../../support/servers/server.js';
import { aTenant } from '../../support/builders/tenants.js';
import { entriesOf } from '../../support/log/entries.js';
import { startProviderBeside, provider, server, replica, shows, linksOf } from '../../support/sign-in/shown-tokens.js';

startProviderBeside();

/** A busy machine may not open so many connections at once, and says so; what is shown is what they come to. */
async function patiently(call: () => Promise<Reply>, tries = 20): Promise<Reply> {
  const reply = await call();
  return reply.status === 503 && tries > 1 ? patiently(call, tries - 1) : reply;
}

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

describe('first sight', () => {
  test('makes one account of twenty first calls at two servers', async () => {
    const sub = NEW();
    const both = await startServer({ replicaOf: server, env: provider.env });
    const calls = Array.from({ length: 20 }, (_, i) => patiently(() => shows(sub, { role: 'member' }, i % 2 ? both : server)));
    const replies = await Promise.all(calls);
    await both.stop();
    expect(new Set(replies.map((reply) => reply.expect(200).text('user.id'))).size).toBe(1);
    expect(await linksOf(sub)).toHaveLength(1);
    expect(await server.sql('select 1 from users where email_folded = $1', [`${sub}@example.test`])).toHaveLength(1);
  });

  test('gives the least role where none is claimed, and leaves out an address that nobody has verified', async () => {
    const reply = await shows(NEW(), { email_verified: false });
    expect(reply.expect(200).at('user')).toMatchObject({ role: 'viewer', email: null });
  });

  test('gives nothing where the installation says so, to somebody who names our user, or who has another’s address', async () => {
    const sub = NEW();
    (await shows(sub, {}, replica)).expect(403, 'FORBIDDEN');
    (await shows(sub, { user_id: newId('usr') })).expect(401, 'UNAUTHENTICATED');
    const person = await aPerson(server, 'member');
    for (const email_verified of [true, false]) {
      (await shows(sub, { email: person.email.toUpperCase(), email_verified })).expect(403, 'FORBIDDEN');
    }
    expect(await linksOf(sub)).toEqual([]);
    // The other server asks the same of whoever has an account already: nothing.
    (await shows(sub)).expect(200);
    (await shows(sub, {}, replica)).expect(200);
  });
});

describe('an invitation', () => {
  const asInvited = (email: string, claims: ClaimsOfUser = {}) => shows(NEW(), { email, ...claims }, replica);
  const status = async (id: string) =>
    (await server.sql<{ by: string | null }>('select accepted_by as by from invitations where id = $1', [id]))[0]!.by;

  test('lets in whose verified address it went to, with no more than either says', async () => {
    const organizationId = await anOrganization(server);
    for (const [role, claimed, given] of [['admin', undefined, 'admin'], ['admin', 'member', 'member'], ['member', 'owner', 'member']]) {
      const email = `${randomUUID()}@example.test`;
      const id = await anInvitation(organizationId, email, role!);
      (await asInvited(email, { email_verified: false })).expect(403, 'FORBIDDEN');
      (await asInvited(email, { email_verified: 'true' })).expect(403, 'FORBIDDEN');
      expect(await status(id)).toBeNull();
      const reply = (await asInvited(email.toUpperCase(), claimed === undefined ? {} : { role: claimed })).expect(200);
      expect(reply.at('user')).toMatchObject({ organizationId, role: given, email });
      expect(await status(id)).toBe(reply.text('user.id'));
      // It is used up: another user of the provider with the same address has no way in by it.
      (await asInvited(email)).expect(403, 'FORBIDDEN');
    }
    expect((await entriesOf(server, 'admin.invitation_ended', organizationId)).map(({ metadata }) => metadata.change))
      .toEqual(Array(3).fill('accepted'));
  });

  test('binds an account that is there already, and the one user comes in place of another', async () => {
    const person = await aPerson(server, 'member', { organizationId: await anOrganization(server) });
    for (const change of ['added', 'replaced']) {
      await anInvitation(person.organizationId, person.email, 'member', { userId: person.id });
      const sub = NEW();
      const reply = await shows(sub, { email: person.email, user_id: person.id, role: 'viewer' }, replica);
      expect(reply.expect(200).at('user')).toMatchObject({ id: person.id });
      expect(await linksOf(sub)).toEqual([person.id]);
      const [entry] = await entriesOf(server, 'auth.credential_changed', person.organizationId);
      expect(entry).toMatchObject({ actorId: person.id, metadata: { userId: person.id, method: 'provider', change } });
    }
    expect(await server.sql('select 1 from user_identities where user_id = $1', [person.id])).toHaveLength(1);
  });

  test('is none once it has expired, or its inviter could not give that role any more, or it is another tenant’s', async () => {
    const organizationId = await anOrganization(server);
    const email = () => `${randomUUID()}@example.test`;
    const [old, lowered, gone, elsewhere, other] = [email(), email(), email(), email(), email()];
    await anInvitation(organizationId, old, 'viewer', { hours: -1 });
    const [inviter, member] = [await aPerson(server, 'admin', { organizationId }), await aPerson(server, 'member', { organizationId })];
    await anInvitation(organizationId, lowered, 'admin', { by: member.id });
    await anInvitation(organizationId, gone, 'viewer', { by: newId('usr') });
    for (const address of [old, lowered, gone]) (await asInvited(address)).expect(403, 'FORBIDDEN');
    await anInvitation(organizationId, elsewhere, 'viewer');
    (await asInvited(elsewhere, { tenant_id: await anOrganization(server) })).expect(403, 'FORBIDDEN');
    (await asInvited(elsewhere, { user_id: newId('usr') })).expect(401, 'UNAUTHENTICATED');
    await anInvitation(organizationId, other, 'member', { by: inviter.id });
    (await asInvited(other)).expect(200);
  });
});

describe('somebody whose account was closed', () => {
  async function closed(): Promise<{ sub: string; email: string; id: string; organizationId: string }> {
    const [sub, organizationId] = [NEW(), await anOrganization(server)];
    const email = `${sub}@example.test`;
    await anInvitation(organizationId, email, 'member');
    const id = (await shows(sub, {}, replica)).expect(200).text('user.id');
    (await asRoot(server).delete(`/api/v1/users/${id}`)).expect(204);
    (await shows(sub)).expect(401, 'UNAUTHENTICATED');
    return { sub, email, id, organizationId };
  }

  test('comes in again by an invitation to their verified address, to another account', async () => {
    const before = await closed();
    const organizationId = await anOrganization(server);
    await anInvitation(organizationId, before.email, 'viewer');
    (await shows(before.sub, { email_verified: false }, replica)).expect(401, 'UNAUTHENTICATED');
    (await shows(before.sub, { email: `${NEW()}@example.test` }, replica)).expect(401, 'UNAUTHENTICATED');
    (await shows(before.sub, { user_id: before.id }, replica)).expect(401, 'UNAUTHENTICATED');
    expect(await linksOf(before.sub)).toEqual([before.id]);
    const calls = Array.from({ length: 6 }, (_, i) => patiently(() => shows(before.sub, {}, i % 2 ? replica : server)));
    const replies = await Promise.all(calls);
    const ids = new Set(replies.map((reply) => reply.expect(200).text('user.id')));
    expect([...ids]).toEqual(await linksOf(before.sub));
    expect(ids.has(before.id)).toBe(false);
    expect(replies[0]!.at('user')).toMatchObject({ organizationId, role: 'viewer' });
    const [entry] = await entriesOf(server, 'auth.credential_changed', before.organizationId);
    expect(entry).toMatchObject({ actorId: [...ids][0], metadata: { userId: before.id, method: 'provider', change: 'removed' } });
  });

  test('keeps the link where the invitation holds no more', async () => {
    const before = await closed();
    const { id: member } = await aPerson(server, 'member', { organizationId: before.organizationId });
    await anInvitation(before.organizationId, before.email, 'admin', { by: member });
    (await shows(before.sub, {}, replica)).expect(403, 'FORBIDDEN');
    (await shows(before.sub, {}, replica)).expect(401, 'UNAUTHENTICATED');
    expect(await linksOf(before.sub)).toEqual([before.id]);
  });
});

describe('signing in at a provider that says the rest at userinfo', () => {
  const scenario = () => ({ server, provider, stop: () => Promise.resolve() });
  const known = (sub: string) => server.sql(
    `select u.email, u.role, u.organization_id, i.claimed_role from user_identities i join users u on u.id = i.user_id
     where i.subject = $1`, [sub]);

  beforeAll(() => provider.conforms(true));
  afterAll(() => provider.conforms(false));

  test('takes the address, the role and the tenant from there, and the id token’s where both say it', async () => {
    const { id: tenant_id, organizationIds: [organizationId] } = await aTenant(server, 'enterprise');
    const sub = NEW();
    const email = `${sub}@example.test`;
    await anInvitation(organizationId!, email, 'admin');
    await provider.tamper({ claims: { email_verified: true } });
    expect((await signIn(scenario(), await aBrowserOf(provider, sub, { tenant_id, email_verified: false }))).status).toBe(403);
    await provider.tamper(undefined);
    expect((await signIn(scenario(), await aBrowserOf(provider, sub, { tenant_id, role: 'member' }))).status).toBe(200);
    expect(await known(sub)).toEqual([{ email, role: 'member', organization_id: organizationId, claimed_role: 'member' }]);
    await provider.tamper({ claims: { role: 'viewer' } });
    expect((await signIn(scenario(), await aBrowserOf(provider, sub, { tenant_id, role: 'member' }))).status).toBe(200);
    await provider.tamper(undefined);
    expect(await known(sub)).toMatchObject([{ role: 'member', claimed_role: 'viewer' }]);
  });

  test('is told what is wrong there, and makes nothing', async () => {
    const sub = NEW();
    await provider.status(500, '/me');
    expect((await signIn(scenario(), await aBrowserOf(provider, sub))).status).toBe(502);
    await provider.status(undefined, '/me');
    expect(await linksOf(sub)).toEqual([]);
  });
});
