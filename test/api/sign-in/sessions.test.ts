import { describe, expect, test } from '@jest/globals';
import { anonymous, asRoot, type Client } from '../../support/http/actors.js';
import { eventually } from '../../support/running/eventually.js';
import { aPerson } from '../../support/builders/people.js';
import { asSession, aTenant, originOf } from '../../support/builders/tenants.js';
import {
  startSessions, ME, SESSIONS, LOGOUT, server, maker, organizationId, recorded, rowOf, gone,
} from '../../support/sign-in/made-sessions.js';

startSessions();

const withCookie = (cookie: string): Client => anonymous(server).with({ cookie, origin: originOf(server) });
const failures = async () => (await server.sql(`select id from audit_entries where event = 'auth.failed'`)).length;
// First: one entry tells of the first failure of an address in a minute.
describe('a cookie that lets nobody in', () => {
  test.each<[string, Parameters<typeof asSession>[2], RegExp]>([
    ['of a session that has ended', { endedBecause: 'asked' }, /it has ended/],
    ['of one that nobody has used for long', { idle: -1 }, /it was not used for long/],
    ['of one whose time is over, however much it is used', { idle: -1, left: -1 }, /its time is over/],
  ])('%s is refused and no attack', async (_, terms, why) => {
    const before = await failures();
    await gone((await asSession(server, await aPerson(server, 'owner'), terms)).client, why);
    expect(await failures()).toBe(before);
  });

  test.each([
    ['that nobody ever had', 'countersign=7a2cAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
    ['of another form', 'countersign=1'],
    ['that is empty', 'countersign='],
    ['of 16 kilobytes, cut by nobody', `countersign=${'A'.repeat(12_000)}`],
    ['that would end a statement', `countersign=' or 1=1 --`],
  ])('one %s', (_, cookie) => gone(withCookie(cookie), /unknown session/));

  test('and is unknown is a failed authentication', async () => {
    expect(await eventually(failures)).toBeGreaterThan(0);
  });

  test('the digest that is kept is no token', async () => {
    const { id } = await asSession(server, await aPerson(server, 'owner'));
    const { token_hash: hash } = await rowOf(id);
    await gone(withCookie(`countersign=${hash}`), /unknown session/);
    await gone(withCookie(`countersign=${hash.slice(0, 43)}`), /unknown session/);
  });

  test('a session is not what a browser brings along, but what begins: nobody can fix one beforehand', async () => {
    const person = await aPerson(server, 'member');
    const planted = `countersign=${'p'.repeat(43)}`;
    const { cookie } = await maker.begin(person, { method: 'passkey' });
    expect(cookie).not.toContain('p'.repeat(43));
    await gone(withCookie(planted), /unknown session/);
  });

  test('of two that differ neither counts, and the same twice is one', async () => {
    const person = await aPerson(server, 'viewer');
    const [one, other] = [await asSession(server, person), await asSession(server, person)];
    (await withCookie(`${one.cookie}; ${other.cookie}`).get(ME)).expect(401);
    (await withCookie(`${one.cookie}; countersign=`).get(ME)).expect(401);
    (await withCookie(`${one.cookie}; ${one.cookie}`).get(ME)).expect(200);
  });
});

describe('a cookie beside a key', () => {
  test('of another person: nobody', async () => {
    const [person, other] = [await aPerson(server, 'owner'), await aPerson(server, 'viewer')];
    const { cookie } = await asSession(server, other);
    expect((await person.client.get(ME, { headers: { cookie } })).expect(401).text('detail')).toMatch(/cookie/);
    (await asRoot(server).get('/api/v1/agents', { headers: { cookie } })).expect(401);
  });

  test('of the same: the key counts, and asks for no page', async () => {
    const person = await aPerson(server, 'admin');
    const { cookie } = await asSession(server, person);
    const client = person.client.with({ cookie, origin: 'https://evil.example' });
    expect((await client.get(ME)).expect(200).body).not.toHaveProperty('session');
    (await client.post('/api/v1/users', { email: 'beside@key.example' })).expect(201);
    (await client.post(LOGOUT)).expect(200);
    (await withCookie(cookie).get(ME)).expect(200);
  });

  test('and dead: none', async () => {
    const person = await aPerson(server, 'admin');
    const { cookie } = await asSession(server, person, { endedBecause: 'asked' });
    (await person.client.get(ME, { headers: { cookie } })).expect(200);
  });
});

describe('beginning', () => {
  test('gives a cookie for this host and no script, kept as a digest, and is told', async () => {
    const person = await aPerson(server, 'member');
    const { id, cookie } = await maker.begin(person, { method: 'password', agent: 'Browser/1 (of a test)', address: '203.0.113.9' });
    expect(cookie).toMatch(/^countersign=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/);
    const client = withCookie(cookie.split(';')[0]!);
    const [own] = (await client.get(SESSIONS)).expect(200).list('sessions') as Record<string, unknown>[];
    expect(own).toMatchObject({ id, method: 'password', userAgent: 'Browser/1 (of a test)', address: '203.0.113.9', current: true });
    const { idle_until: idle, expires_at: end, last_used_at: used, token_hash: hash } = await rowOf(id);
    expect([+idle - +used, +end - +used]).toEqual([8 * 3_600_000, 7 * 86_400_000]);
    expect(cookie).not.toContain(hash);
    expect(await recorded(id)).toEqual([{ event: 'auth.login', actor: person.id, metadata: { sessionId: id, method: 'password' } }]);
  });

  test('by a provider keeps its tokens sealed, and only as long as the session is open', async () => {
    const person = await aPerson(server, 'member');
    const tokens = { accessToken: 'access-of-the-provider', refreshToken: 'refresh-of-the-provider', idToken: 'id-of-the-provider' };
    const issuer = 'https://id.example';
    const { id } = await maker.begin(person, { method: 'provider', provider: { issuer, sid: 'sid-of-theirs', tokens } });
    const row = await rowOf(id);
    expect(JSON.stringify(row)).not.toMatch(/sid-of-theirs/);
    expect(row.provider_tokens!.toString('latin1')).not.toMatch(/of-the-provider/);
    expect(await recorded(id)).toMatchObject([{ metadata: { method: 'provider', issuer } }]);
    expect(await maker.end({ organizationId, id }, 'provider', 'system')).toBe(1);
    expect(await maker.end({ organizationId, id }, 'provider', 'system')).toBe(0);
    expect(await rowOf(id)).toMatchObject({ provider_tokens: null, end_reason: 'provider' });
    expect(await recorded(id)).toMatchObject([
      {}, { event: 'auth.logout', actor: 'system', metadata: { reason: 'provider', userId: person.id } },
    ]);
  });

  test('is refused for an account that is closed', async () => {
    const person = await aPerson(server, 'member');
    (await asRoot(server).delete(`/api/v1/users/${person.id}`)).expect(204);
    await expect(maker.begin(person, { method: 'passkey' })).rejects.toThrow('The account is closed.');
  });

  test('once more than a hundred times ends the one that was used longest ago', async () => {
    const person = await aPerson(server, 'member');
    await server.sql(
      `insert into sessions (organization_id, id, user_id, token_hash, method, created_at, last_used_at, idle_until, expires_at)
       select $1, 'sess_of_a_hundred_' || n, $2, encode(sha256(n::text::bytea), 'hex'), 'passkey', now(), now() - n * interval '1 minute',
         now() + interval '1 hour', now() + interval '1 hour' from generate_series(1, 100) n`,
      [organizationId, person.id],
    );
    await maker.begin(person, { method: 'passkey' });
    const open = await server.sql('select id from sessions where user_id = $1 and ended_at is null', [person.id]);
    expect(open).toHaveLength(100);
    expect(await rowOf('sess_of_a_hundred_100')).toMatchObject({ end_reason: 'replaced' });
    expect(await rowOf('sess_of_a_hundred_99')).toMatchObject({ end_reason: null });
  });
});

describe('who one is', () => {
  test('by session: account, role, permissions, home, tenant, session', async () => {
    const { id: tenantId, organizationIds: [home] } = await aTenant(server, 'teams');
    const person = await aPerson(server, 'admin', { organizationId: home! });
    const { client, id } = await asSession(server, person);
    const me = (await client.get(ME)).expect(200);
    expect(me.body).toMatchObject({
      user: { id: person.id, role: 'admin', organizationId: home }, role: 'admin', organization: { id: home },
      tenant: { id: tenantId, tier: 'teams' }, session: { id, method: 'passkey' },
      permissions: { 'users.write': 'all', 'sign-in.write-self': 'own' },
    });
    expect(me.at('permissions')).not.toHaveProperty('agents.transfer');
    await server.sql('update tenants set subscription_active = false where id = $1', [tenantId]);
    expect((await client.get(ME)).text('tenant.tier')).toBe('personal');
  });

  test('is asked by everybody, and where one is signed in by people alone', async () => {
    expect((await asRoot(server).get(ME)).expect(200).text('principal')).toBe('root');
    for (const call of [asRoot(server).get(SESSIONS), asRoot(server).post(LOGOUT)]) (await call).expect(403);
    (await anonymous(server).get(ME)).expect(401);
    (await anonymous(server).post(LOGOUT)).expect(401);
  });

  test('an owner reaches the organizations of the tenant; one whom the provider says less of does not', async () => {
    const { organizationIds: [home, second] } = await aTenant(server, 'enterprise', { organizations: 2 });
    const owner = await aPerson(server, 'owner', { organizationId: home! });
    const { client, id } = await asSession(server, owner, { method: 'provider' });
    (await client.get(`/api/v1/organizations/${second}`)).expect(200);
    const issuer = 'https://id.example';
    await server.sql('update sessions set issuer = $2 where id = $1', [id, issuer]);
    await server.sql(
      `insert into user_identities (organization_id, user_id, issuer, subject, claimed_role, claimed_role_since, has_subscription,
         claims_at, bound_at) values ($1, $2, $3, 'sub', 'member', now(), false, now(), now())`,
      [home, owner.id, issuer],
    );
    (await client.get(`/api/v1/organizations/${second}`)).expect(404);
    const me = (await client.get(ME)).expect(200);
    expect([me.text('role'), me.text('user.role'), me.text('tenant.tier')]).toEqual(['member', 'owner', 'personal']);
    (await client.post('/api/v1/users', { email: 'no@member.example' })).expect(403, 'FORBIDDEN');
    // It takes away and gives nothing.
    await server.sql(`update user_identities set claimed_role = 'owner', has_subscription = true where user_id = $1`, [owner.id]);
    await server.sql(`update users set role = 'viewer' where id = $1`, [owner.id]);
    expect((await client.get(ME)).text('role')).toBe('viewer');
  });
});
