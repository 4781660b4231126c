import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '../../../src/domain/ids.js';
import { anonymous, as, asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { columnsWith, erased, verification } from '../../support/erasure/erasures.js';
import { eventually } from '../../support/running/eventually.js';
import { startProvider, type TestProvider } from '../../support/sign-in/oidc-provider.js';
import { aPassword } from '../../support/sign-in/passwords.js';
import { aPerson, firstOrganization, type BuiltPerson } from '../../support/builders/people.js';
import { aBrowserOf, cookieOf, LOGIN, sessionsOf } from '../../support/sign-in/provider-login.js';
import { linked } from '../../support/sign-in/provider-people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { asSession, originOf } from '../../support/builders/tenants.js';

let provider: TestProvider;
let server: TestServer;
let owner: BuiltPerson;

beforeAll(async () => {
  provider = await startProvider();
  server = await startServer({ env: { ...provider.env, OIDC_ADMIN_URL: `${provider.issuer}/admin/users`, TRUSTED_PROXIES: '127.0.0.1' } });
  await provider.serves(server);
  owner = await aPerson(server, 'owner');
});

afterAll(async () => {
  await server?.stop();
  await provider?.close();
});

const erase = (id: string, who: Client = asRoot(server)): Promise<Reply> => who.delete(`/api/v1/users/${id}/data`);
const rowsOf = async (table: string, userId: string) => (await server.sql(`select 1 from ${table} where user_id = $1`, [userId])).length;
const effectsOf = (userId: string) => server.sql<{ payload: { sealed: string } }>(
  `select payload from outbox where kind = 'provider-account.delete' and payload ->> 'userId' = $1`, [userId]);
const seconds = () => Math.floor(Date.now() / 1_000);

/** Somebody whom the provider knows too: a record linked to an account there. */
async function aLinkedPerson(): Promise<{ person: BuiltPerson; sub: string; path: string }> {
  const person = await aPerson(server, 'member');
  const sub = await linked(server, provider, person);
  await provider.claims(sub);
  return { person, sub, path: `/admin/users/${sub}` };
}

const isThere = async (sub: string) => (await provider.accounts()).includes(sub);

/** The provider answers so when it is asked to delete an account; undefined ends it. */
const answers = (path: string, status: number | undefined) => provider.status(status, path);

describe('erasing somebody who signs in', () => {
  const sub = 'subject-of-hedwig-0815';
  const [email, name, address] = ['hedwig.kohn@example.org', 'Hedwig Kohn', '198.51.100.42'];
  const agent = 'Netscape Of Hedwig/4.0';
  const passkey = 'telephone of hedwig kohn';

  test('ends all ways in, here and at the provider, and leaves nothing of them', async () => {
    const organizationId = await firstOrganization(server);
    const browser = await aBrowserOf(provider, sub, { email, email_verified: true, name, role: 'member' });
    const headers = { 'user-agent': agent, 'x-forwarded-for': address };
    const page = await browser.visit(`${originOf(server)}${LOGIN}?returnTo=/docs`, { headers });
    expect(page.status).toBe(200);
    const [session] = await sessionsOf(server, sub);
    const person = { id: session!.user_id, organizationId, email };
    await aPassword(server, person);
    await server.sql(
      `insert into passkeys (organization_id, id, user_id, credential_id, public_key, counter, transports, device_type, backed_up, name,
         created_at) values ($1, $2, $3, $4, $5, 1, '{internal}', 'multiDevice', true, $6, clock_timestamp())`,
      [organizationId, newId('pky'), person.id, randomBytes(16).toString('base64url'), randomBytes(32), passkey],
    );
    const invited = (await asRoot(server).post('/api/v1/users/invitations', { email, role: 'member', organizationId })).expect(201);
    const [link, invitationId] = [invited.text('link'), invited.text('invitation.id')];
    const other = await asSession(server, person);
    for (const text of [email, sub, agent, address, passkey]) expect(await columnsWith(server, text)).not.toEqual([]);

    const copy = (await asRoot(server).get(`/api/v1/audit/${person.id}/export`)).expect(200);
    const held = (copy.list('lines') as { kind: string; records?: Record<string, unknown> }[]).find(({ kind }) => kind === 'records');
    expect(held?.records?.['sign-in']).toMatchObject({
      sessions: expect.arrayContaining([expect.objectContaining({ id: session!.id, method: 'provider', userAgent: agent, address })]),
      passkeys: [{ name: passkey, lastUsedAt: null }], identities: [{ issuer: provider.issuer, subject: sub }],
      passwords: [{ changedAt: expect.any(String) }], invitations: [{ email, role: 'member', acceptedAt: null }],
    });
    expect(JSON.stringify(copy.body)).not.toMatch(/scrypt|tokenHash|publicKey/);

    const answer = (await erase(person.id)).expect(200);
    expect(answer.body).toMatchObject({ userId: person.id, profile: 1, sessions: 2, identityProvider: 'deleted' });
    expect(await isThere(sub)).toBe(false);
    const cookie = cookieOf(browser);
    for (const one of [cookie, other.cookie]) {
      (await anonymous(server).with({ cookie: one }).get('/api/v1/auth/me')).expect(401, 'UNAUTHENTICATED');
    }
    await erased(server);
    for (const table of ['sessions', 'passkeys', 'passwords', 'user_identities', 'personal_keys']) {
      expect([table, await rowsOf(table, person.id)]).toEqual([table, 0]);
    }
    expect(await effectsOf(person.id)).toEqual([]);
    (await anonymous(server).get(new URL(link).pathname)).expect(404);
    const voided = (await asRoot(server).get('/api/v1/audit', { query: { event: 'admin.invitation_ended', limit: 1 } })).expect(200);
    expect(voided.at('entries.0.metadata')).toEqual({ invitationId, change: 'voided' });
    const about = (await asRoot(server).get('/api/v1/audit', { query: { userId: person.id, limit: 100 } })).expect(200)
      .list('entries') as { event: string; metadata: Record<string, unknown> }[];
    const ended = about.filter(({ event }) => event === 'auth.logout').map(({ metadata }) => metadata);
    expect(ended).toHaveLength(2);
    for (const one of ended) expect(one).toMatchObject({ reason: 'erased', userId: person.id });
    for (const text of [email, name, sub, agent, address, passkey]) expect([text, await columnsWith(server, text)]).toEqual([text, []]);
    expect(await verification(server)).toMatchObject({ valid: true });
  });

  test('nobody comes back by what the provider said before; whoever signs in there anew is somebody new', async () => {
    const { person, sub: again } = await aLinkedPerson();
    const before = await provider.accessToken(again);
    (await as(server, before).get('/api/v1/users/me')).expect(200);
    (await erase(person.id)).expect(200);
    (await as(server, before).get('/api/v1/users/me')).expect(401, 'UNAUTHENTICATED');
    await erased(server);
    (await as(server, before).get('/api/v1/users/me')).expect(401, 'UNAUTHENTICATED');
    const after = await provider.accessToken(again, { iat: seconds() + 2, exp: seconds() + 600 });
    expect((await as(server, after).get('/api/v1/users/me')).expect(200).text('user.id')).not.toBe(person.id);
    (await as(server, before).get('/api/v1/users/me')).expect(200);
  });
});

describe('the account at the provider', () => {
  test('of somebody who has none there is none to delete', async () => {
    const person = await aPerson(server, 'member');
    await aPassword(server, person);
    await asSession(server, person);
    expect((await erase(person.id)).expect(200).body).toMatchObject({ sessions: 1, identityProvider: 'none' });
    await erased(server);
    expect(await rowsOf('passwords', person.id)).toBe(0);
  });

  test.each([[500], [401], [302]])('is left to do while the provider answers %i, sealed, and repeating tries again', async (status) => {
    const { person, sub, path } = await aLinkedPerson();
    await answers(path, status);
    expect((await erase(person.id)).expect(200).body).toMatchObject({ profile: 1, identityProvider: 'left_to_do' });
    await erased(server);
    const [effect] = await effectsOf(person.id);
    expect(Buffer.from(effect!.payload.sealed, 'base64').includes(sub)).toBe(false);
    expect(await columnsWith(server, sub)).toEqual([]);
    expect((await erase(person.id)).expect(200).body)
      .toMatchObject({ profile: 0, sessions: 0, identityProvider: 'left_to_do', erasures: [] });
    expect(await isThere(sub)).toBe(true);
    await answers(path, undefined);
    await eventually(async () => expect((await erase(person.id)).expect(200).body).toMatchObject({ identityProvider: 'deleted' }),
      { every: 200 });
    expect(await isThere(sub)).toBe(false);
    expect((await erase(person.id)).expect(200).body).toMatchObject({ profile: 0, identityProvider: 'none' });
  });

  test('that is gone already is deleted', async () => {
    const { person, path } = await aLinkedPerson();
    await answers(path, 404);
    await provider.forgetCounts();
    expect((await erase(person.id)).expect(200).body).toMatchObject({ identityProvider: 'deleted' });
    expect((await provider.counts()).requests['/admin/users/…']).toBe(1);
  });

  test('is deleted later by itself, also when no token is to be had at first', async () => {
    const { person, sub } = await aLinkedPerson();
    await answers('/token', 503);
    expect((await erase(person.id)).expect(200).body).toMatchObject({ identityProvider: 'left_to_do' });
    await answers('/token', undefined);
    await eventually(async () => expect(await isThere(sub)).toBe(false), { every: 200 });
    await eventually(async () => expect(await effectsOf(person.id)).toEqual([]));
  });

  test('waits for somebody after a day, counted in readiness, and is tried when it is asked for again', async () => {
    const { person, sub, path } = await aLinkedPerson();
    const parked = async () => (await anonymous(server).get('/health/ready')).expect(200).number('parkedEffects');
    await answers(path, 500);
    expect((await erase(person.id)).expect(200).body).toMatchObject({ identityProvider: 'left_to_do' });
    expect(await parked()).toBe(0);
    await server.sql(
      `update outbox set created_at = created_at - interval '25 hours', available_at = clock_timestamp() where payload ->> 'userId' = $1`,
      [person.id],
    );
    await eventually(async () => expect(await parked()).toBe(1), { every: 200 });
    await answers(path, undefined);
    await eventually(async () => expect((await erase(person.id)).expect(200).body).toMatchObject({ identityProvider: 'deleted' }),
      { every: 200 });
    expect([await isThere(sub), await parked()]).toEqual([false, 0]);
  });

  test('of another provider is for somebody there: the same subject here is somebody else', async () => {
    const { person, sub } = await aLinkedPerson();
    await server.sql(`update user_identities set issuer = 'https://before.example' where user_id = $1`, [person.id]);
    expect((await erase(person.id)).expect(200).body).toMatchObject({ identityProvider: 'left_to_do' });
    expect(await rowsOf('user_identities', person.id)).toBe(0);
    expect([await isThere(sub), await effectsOf(person.id)]).toEqual([true, []]);
  });

  test('without its administration is for somebody there', async () => {
    const { person, sub } = await aLinkedPerson();
    const without = await startServer({ replicaOf: server, env: provider.env });
    try {
      expect((await erase(person.id, asRoot(without))).expect(200).body).toMatchObject({ identityProvider: 'left_to_do' });
    } finally {
      await without.stop();
    }
    expect([await isThere(sub), await rowsOf('user_identities', person.id), await effectsOf(person.id)]).toEqual([true, 0, []]);
  });
});

test('a server that dies in between goes on when it is back', async () => {
  const { person, sub, path } = await aLinkedPerson();
  await aPassword(server, person);
  const session = await asSession(server, person);
  await provider.slow(60_000, path);
  const asked = erase(person.id).catch(() => undefined);
  await eventually(async () => expect(await rowsOf('user_identities', person.id)).toBe(0), { every: 20 });
  await server.kill();
  await asked;
  await provider.slow(0, path);
  expect(await effectsOf(person.id)).toHaveLength(1);
  // The claim of the server that died would hold for half a minute.
  await server.sql(`update outbox set available_at = clock_timestamp() where payload ->> 'userId' = $1`, [person.id]);
  await server.restart();
  await erased(server);
  (await session.client.get('/api/v1/auth/me')).expect(401, 'UNAUTHENTICATED');
  await eventually(async () => expect([await isThere(sub), await effectsOf(person.id)]).toEqual([false, []]));
  expect([await rowsOf('passwords', person.id), await rowsOf('sessions', person.id)]).toEqual([0, 0]);
  expect((await owner.client.get(`/api/v1/users/${person.id}`)).expect(200).text('user.status')).toBe('erased');
});
