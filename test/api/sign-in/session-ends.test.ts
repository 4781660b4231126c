import { beforeAll, describe, expect, test } from '@jest/globals';
import { asRoot } from '../../support/http/actors.js';
import { eventually } from '../../support/running/eventually.js';
import { aPerson, anOrganization, type BuiltPerson } from '../../support/builders/people.js';
import { entriesOfSessions } from '../../support/sign-in/sessions.js';
import { asSession, type BuiltSession } from '../../support/builders/tenants.js';
import { startSessions, ME, SESSIONS, LOGOUT, server, recorded, rowOf, gone } from '../../support/sign-in/made-sessions.js';

startSessions();

const SWEPT = { every: 200 };

describe('use', () => {
  test('makes a session last, and no longer than its end', async () => {
    const { client, id } = await asSession(server, await aPerson(server, 'viewer'), { age: 300, idle: 100, left: 3_600 });
    const before = await rowOf(id);
    (await client.get(ME)).expect(200);
    const after = await eventually(async () => {
      const row = await rowOf(id);
      expect(+row.last_used_at).toBeGreaterThan(+before.last_used_at);
      return row;
    });
    expect(after.idle_until).toEqual(before.expires_at);
    expect(after.expires_at).toEqual(before.expires_at);
  });

  test('is written down once a minute at most', async () => {
    const { client, id } = await asSession(server, await aPerson(server, 'viewer'), { age: 20 });
    const before = await rowOf(id);
    for (let i = 0; i < 10; i++) (await client.get(ME)).expect(200);
    // Behind whatever was written beside those calls.
    await server.sql('select from sessions where id = $1 for update', [id]);
    expect(await rowOf(id)).toEqual(before);
  });
});

describe('signing out', () => {
  test('ends the session at once, clears the cookie, and is told', async () => {
    const person = await aPerson(server, 'viewer');
    const { client, id } = await asSession(server, person);
    const other = await asSession(server, person);
    const answer = (await client.post(LOGOUT)).expect(200);
    expect(answer.body).toEqual({ endSessionUrl: null });
    expect(answer.headers.get('set-cookie')).toMatch(/^countersign=; Path=\/; Max-Age=0;/);
    await gone(client, /it has ended/);
    (await other.client.get(ME)).expect(200);
    expect(await recorded(id)).toEqual([
      { event: 'auth.logout', actor: person.id, metadata: { sessionId: id, userId: person.id, reason: 'asked' } },
    ]);
  });

  test('ten times at once is told once', async () => {
    const { client, id } = await asSession(server, await aPerson(server, 'viewer'));
    const answers = await Promise.all(Array.from({ length: 10 }, () => client.post(LOGOUT)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 401]));
    expect(await recorded(id)).toHaveLength(1);
  });
});

describe('one\'s sessions', () => {
  let person: BuiltPerson;
  let here: BuiltSession;
  let there: BuiltSession;
  beforeAll(async () => {
    person = await aPerson(server, 'viewer');
    here = await asSession(server, person);
    there = await asSession(server, person);
    await asSession(server, person, { endedBecause: 'asked' });
    await asSession(server, person, { idle: -1 });
    await asSession(server, await aPerson(server, 'viewer'));
  });

  test('are listed: those that let one in, newest first', async () => {
    const list = (await here.client.get(SESSIONS)).expect(200);
    expect([list.number('total'), list.list('sessions')]).toEqual([2, [
      expect.objectContaining({ id: there.id, current: false }), expect.objectContaining({ id: here.id, current: true, method: 'passkey' }),
    ]]);
    const byKey = (await person.client.get(SESSIONS, { query: { limit: 1 } })).expect(200);
    expect(byKey.list('sessions')).toMatchObject([{ id: there.id, current: false }]);
    expect((await person.client.get(SESSIONS, { query: { cursor: byKey.text('nextCursor') } })).list('sessions')).toHaveLength(1);
  });

  test('end by their owner\'s word, and by nobody else\'s', async () => {
    const strangers = await Promise.all([
      asSession(server, await aPerson(server, 'owner')),
      asSession(server, await aPerson(server, 'owner', { organizationId: await anOrganization(server) })),
    ]);
    const absent = (await here.client.delete(`${SESSIONS}/sess_00000000000000000000000000absent0000`)).expect(404);
    for (const { client } of strangers) {
      expect((await client.delete(`${SESSIONS}/${there.id}`)).expect(404).text('detail')).toBe(absent.text('detail'));
    }
    (await asRoot(server).delete(`${SESSIONS}/${there.id}`)).expect(403);
    (await there.client.get(ME)).expect(200);
    const ended = (await here.client.delete(`${SESSIONS}/${there.id}`)).expect(204);
    expect(ended.headers.get('set-cookie')).toBeNull();
    await gone(there.client, /it has ended/);
    (await here.client.delete(`${SESSIONS}/${there.id}`)).expect(404);
    expect(await recorded(there.id)).toMatchObject([{ actor: person.id, metadata: { reason: 'revoked' } }]);
    const own = (await here.client.delete(`${SESSIONS}/${here.id}`)).expect(204);
    expect(own.headers.get('set-cookie')).toMatch(/^countersign=;/);
    await gone(here.client, /it has ended/);
  });
});

describe('with an account', () => {
  test.each<[string, (id: string) => Promise<unknown>, string, RegExp]>([
    ['a role that is lowered', async (id) => (await asRoot(server).patch(`/api/v1/users/${id}`, { role: 'member' })).expect(200),
      'role_lost', /it has ended/],
    ['its end', async (id) => (await asRoot(server).delete(`/api/v1/users/${id}`)).expect(204), 'closed', /the account is closed/],
  ])('%s ends all its sessions, each told', async (_, change, reason, why) => {
    const person = await aPerson(server, 'admin');
    const sessions = await Promise.all(Array.from({ length: 3 }, () => asSession(server, person)));
    const another = await asSession(server, await aPerson(server, 'admin'));
    await change(person.id);
    for (const { client, id } of sessions) {
      await gone(client, why);
      expect(await recorded(id)).toMatchObject([{ event: 'auth.logout', actor: 'root', metadata: { reason, userId: person.id } }]);
    }
    (await another.client.get(ME)).expect(200);
  });

  test('erasing leaves no session', async () => {
    const person = await aPerson(server, 'member');
    const { client } = await asSession(server, person);
    (await asRoot(server).delete(`/api/v1/users/${person.id}/data`)).expect(200);
    (await client.get(ME)).expect(401);
    await eventually(async () => expect(await server.sql('select 1 from sessions where user_id = $1', [person.id])).toEqual([]), SWEPT);
  });

  test('a higher role counts at the next call', async () => {
    const person = await aPerson(server, 'viewer');
    const { client } = await asSession(server, person);
    (await asRoot(server).patch(`/api/v1/users/${person.id}`, { role: 'admin', name: 'Ada' })).expect(200);
    expect((await client.get(ME)).expect(200).text('role')).toBe('admin');
  });
});

describe('what ends by itself', () => {
  test('is told as such, however many, and forgets the provider\'s tokens', async () => {
    const home = await anOrganization(server);
    const person = await aPerson(server, 'member', { organizationId: home });
    await server.sql(
      `insert into sessions (organization_id, id, user_id, token_hash, method, created_at, last_used_at, idle_until, expires_at,
         issuer, provider_tokens)
       select $1, 'sess_swept_' || n, $2, encode(sha256(('swept' || n)::bytea), 'hex'), 'provider', now(), now(),
         now() - interval '1 minute', now() + (case when n % 2 = 0 then interval '1 hour' else - interval '1 second' end), 'https://id.example', '\\x00'
       from generate_series(1, 250) n`,
      [home, person.id],
    );
    const { id: live } = await asSession(server, person);
    await eventually(async () => {
      expect(await server.sql(
        `select end_reason as reason, count(*)::integer as count from sessions
         where user_id = $1 and ended_at is not null and provider_tokens is null group by 1 order by 1`, [person.id],
      )).toEqual([{ reason: 'expired', count: 125 }, { reason: 'idle', count: 125 }]);
    }, SWEPT);
    const entries = await entriesOfSessions(server, home);
    expect(entries.size).toBe(250);
    expect(entries.get('sess_swept_1')).toEqual([
      { event: 'auth.logout', actor: 'system', metadata: { sessionId: 'sess_swept_1', userId: person.id, reason: 'expired' } },
    ]);
    expect(entries.get('sess_swept_2')).toMatchObject([{ metadata: { reason: 'idle' } }]);
    expect(await rowOf(live)).toMatchObject({ end_reason: null });
  });
});
