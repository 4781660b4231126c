import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous, asRoot } from '../../support/http/actors.js';
import { anAgent } from '../../support/builders/agents.js';
import type { AuditEntry } from '../../support/log/entries.js';
import { eventually } from '../../support/running/eventually.js';
import { aPassword, aVisitor, PASSWORD, type Visitor } from '../../support/sign-in/passwords.js';
import { anOrganization, aPerson, type BuiltPerson, closeAccount } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { asSession } from '../../support/builders/tenants.js';

const MINE = '/api/v1/auth/password';
const NEW = 'seven lanterns under ice';

let server: TestServer;
let visitor: Visitor;
let n = 0;

beforeAll(async () => {
  server = await startServer({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
  visitor = await aVisitor(server);
});
afterAll(() => server.stop());

/** A network address that nobody has come from before. */
const elsewhere = () => aVisitor(server, `198.51.${(++n >> 8) & 255}.${n & 255}`);

async function aPersonWithPassword(role: BuiltPerson['role'] = 'member', organizationId?: string): Promise<BuiltPerson> {
  const person = await aPerson(server, role, organizationId === undefined ? {} : { organizationId });
  await aPassword(server, person);
  return person;
}

/** Whoever has signed in has a password at the present cost, of a quarter of a second a guess: guesses at it cost next to nothing again. */
async function signsIn(from: Visitor, person: BuiltPerson): Promise<void> {
  expect((await from.signIn(person.email, PASSWORD)).status).toBe(303);
  await aPassword(server, person);
}

/** Guesses at these cost next to nothing. */
const twenty = () => Promise.all(Array.from({ length: 20 }, () => aPersonWithPassword()));

async function entries(event: string): Promise<AuditEntry[]> {
  const found = await asRoot(server).get('/api/v1/audit', { query: { event, limit: 500 } });
  return found.expect(200).list('entries') as AuditEntry[];
}

describe('signing in by password', () => {
  test('begins a session, and leaves an entry', async () => {
    const person = await aPersonWithPassword();
    const answer = await visitor.signIn(person.email.toUpperCase(), PASSWORD);
    expect(answer).toMatchObject({ status: 303, location: '/docs', session: expect.any(String) });
    const me = anonymous(server).with({ cookie: answer.session! });
    expect((await me.get('/api/v1/users/me')).expect(200).at('user.id')).toBe(person.id);
    expect((await entries('auth.login')).filter(({ actorId }) => actorId === person.id)).toMatchObject([
      { metadata: { method: 'password' } },
    ]);
  });

  test('keeps the password at the present cost from then on', async () => {
    const person = await aPersonWithPassword();
    expect((await visitor.signIn(person.email, PASSWORD)).status).toBe(303);
    const [row] = await server.sql<{ hash: string }>('select hash from passwords where user_id = $1', [person.id]);
    expect(row!.hash).toMatch(/^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/);
    expect((await visitor.signIn(person.email, PASSWORD)).status).toBe(303);
  });

  test('takes a password however the keyboard composes it', async () => {
    const person = await aPerson(server, 'viewer');
    await aPassword(server, person, 'Käse über Bäumen'.normalize('NFC'));
    expect((await visitor.signIn(person.email, 'Käse über Bäumen'.normalize('NFD'))).status).toBe(303);
  });

  test('says one thing of an unknown address, a closed account, an account without password and a wrong one', async () => {
    const closed = await aPersonWithPassword();
    await closeAccount(server, closed);
    const person = await aPersonWithPassword();
    const without = await aPerson(server, 'member');
    const texts: string[] = [];
    const tries: [string, string][] = [
      ['nobody@example.test', PASSWORD], [closed.email, PASSWORD], [without.email, PASSWORD], [person.email, `${PASSWORD}!`],
      [person.email, ''], [person.email, PASSWORD.repeat(300)], [`${person.email}\0`, PASSWORD],
    ];
    for (const [email, password] of tries) {
      const answer = await (await elsewhere()).signIn(email, password);
      expect([email, answer.status, answer.session]).toEqual([email, 401, undefined]);
      texts.push(answer.text.replaceAll(email, '').replace(/value="[^"]*"/g, ''));
    }
    expect(new Set(texts.slice(0, 4)).size).toBe(1);
    await eventually(async () => expect((await entries('auth.failed')).map(({ metadata }) => metadata.reason)).toContain('wrong_password'));
  });

  test('asks of whom it is for accounts in several organizations, and lets in by the one that is named', async () => {
    const there = await anOrganization(server, { name: 'The other one' });
    const one = await aPersonWithPassword();
    const other = await aPerson(server, 'viewer', { organizationId: there, email: one.email });
    await aPassword(server, other);
    const asked = await visitor.signIn(one.email, PASSWORD);
    expect(asked).toMatchObject({ status: 200, session: undefined });
    expect(asked.text).toContain('The other one');
    const answer = await visitor.signIn(one.email, PASSWORD, { organization: there });
    expect(answer.status).toBe(303);
    const me = anonymous(server).with({ cookie: answer.session! });
    expect((await me.get('/api/v1/users/me')).expect(200).at('user.id')).toBe(other.id);
    await aPassword(server, other, NEW);
    expect((await visitor.signIn(one.email, NEW)).status).toBe(303);
  });
});

describe('guessing', () => {
  /** How long each row of an account makes wait, in seconds, by the time it was counted: rows are remembered for a day. */
  const pauses = async () => (await server.sql<{ pause: number }>(
    `select round(86400 - extract(epoch from until - next_at))::integer as pause from sign_in_slowdowns
     where until > clock_timestamp() + interval '1 hour'`)).map(({ pause }) => pause);
  const forgetAll = () => server.sql('delete from sign_in_slowdowns');
  const pauseIsOver = () => server.sql('update sign_in_slowdowns set next_at = clock_timestamp()');
  const pauseLasts = () =>
    server.sql(`update sign_in_slowdowns set next_at = clock_timestamp() + interval '90 seconds' where failures >= 5`);

  test.each([
    ['an account'], ['an address that nobody has'],
  ])('at %s is slowed down after five guesses, and more each time', async (whom) => {
    await forgetAll();
    const email = whom === 'an account' ? (await aPersonWithPassword()).email : `nobody.${++n}@example.test`;
    // A guess at nobody's password costs as much as one at a real one: after the first it is as if there had been four.
    for (const pause of whom === 'an account' ? [0, 0, 0, 0, 1, 2, 4, 8] : [0, 1]) {
      if (pause === 1) await server.sql('update sign_in_slowdowns set failures = 4');
      expect((await (await elsewhere()).signIn(email, 'wrong')).status).toBe(401);
      expect(await pauses()).toEqual([pause]);
      await pauseIsOver();
    }
    await server.sql('update sign_in_slowdowns set failures = 40');
    expect((await (await elsewhere()).signIn(email, 'wrong')).status).toBe(401);
    expect(await pauses()).toEqual([900]);
    // Nobody waits: whoever is too early is told so, also with the right password.
    const slowed = await (await elsewhere()).signIn(email, PASSWORD);
    expect(slowed).toMatchObject({ status: 429, session: undefined });
    expect(Number(slowed.retryAfter)).toBeGreaterThan(800);
    expect(await pauses()).toEqual([900]);
  });

  test('begins anew after a right password, and after a day', async () => {
    await forgetAll();
    const person = await aPersonWithPassword();
    for (let i = 0; i < 4; i++) await (await elsewhere()).signIn(person.email, 'wrong');
    await signsIn(await elsewhere(), person);
    expect(await pauses()).toEqual([]);
    for (let i = 0; i < 4; i++) await (await elsewhere()).signIn(person.email, 'wrong');
    await server.sql(`update sign_in_slowdowns set until = clock_timestamp(), next_at = clock_timestamp() + interval '1 day'`);
    expect((await (await elsewhere()).signIn(person.email, 'wrong')).status).toBe(401);
    expect(await pauses()).toEqual([0]);
  });

  test('from one address is slowed down after twenty guesses a minute, whichever accounts it tries', async () => {
    await forgetAll();
    const guesser = await elsewhere();
    const statuses: number[] = [];
    for (const { email } of await twenty()) statuses.push((await guesser.signIn(email, 'wrong')).status);
    expect(statuses).toEqual(Array(20).fill(401));
    await server.sql(`update sign_in_slowdowns set next_at = clock_timestamp() + interval '60 seconds', until = clock_timestamp()
      + interval '60 seconds' where failures = 20`);
    const person = await aPersonWithPassword();
    expect((await guesser.signIn(person.email, PASSWORD)).status).toBe(429);
    expect((await (await elsewhere()).signIn(person.email, PASSWORD)).status).toBe(303);
    // What the address was refused for did not count against the account.
    expect(await pauses().then((all) => all.filter((pause) => pause > 0))).toEqual([]);
  });

  test('by strangers keeps nobody out from where they have signed in of late, nor does it from the very same address', async () => {
    await forgetAll();
    const person = await aPersonWithPassword();
    const home = await elsewhere();
    await signsIn(home, person);
    for (let i = 0; i < 5; i++) await (await elsewhere()).signIn(person.email, 'wrong');
    await pauseLasts();
    expect((await (await elsewhere()).signIn(person.email, PASSWORD)).status).toBe(429);
    await signsIn(home, person);
    // Somebody else at home tries other accounts.
    for (const { email } of await twenty()) await home.signIn(email, 'wrong');
    await server.sql(`update sign_in_slowdowns set next_at = until where failures >= 20`);
    expect((await home.signIn(person.email, PASSWORD)).status).toBe(303);
    // A sign-in of long ago counts for nothing.
    await server.sql(`update sessions set created_at = created_at - interval '31 days' where user_id = $1`, [person.id]);
    expect((await home.signIn(person.email, PASSWORD)).status).toBe(429);
  });

  test('at home is slowed down as well', async () => {
    await forgetAll();
    const person = await aPersonWithPassword();
    const home = await elsewhere();
    await signsIn(home, person);
    for (let i = 0; i < 5; i++) expect((await home.signIn(person.email, 'wrong')).status).toBe(401);
    await pauseLasts();
    expect((await home.signIn(person.email, PASSWORD)).status).toBe(429);
  });

  test('leaves rows in which nobody is named', async () => {
    const person = await aPersonWithPassword();
    await (await elsewhere()).signIn(person.email, 'wrong');
    const rows = await server.sql<{ subject: string }>('select subject from sign_in_slowdowns');
    expect(rows.length).toBeGreaterThan(0);
    for (const { subject } of rows) expect(subject).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('setting one’s password', () => {
  test('is done within a fresh session, and ends the others', async () => {
    const person = await aPersonWithPassword();
    const fresh = await asSession(server, person, { age: 30 });
    const other = await asSession(server, person, { age: 30 });
    (await fresh.client.put(MINE, { password: NEW })).expect(204);
    (await fresh.client.get('/api/v1/users/me')).expect(200);
    (await other.client.get('/api/v1/users/me')).expect(401);
    expect((await visitor.signIn(person.email, PASSWORD)).status).toBe(401);
    expect((await visitor.signIn(person.email, NEW)).status).toBe(303);
    expect((await entries('auth.credential_changed')).filter(({ actorId }) => actorId === person.id)).toMatchObject([
      { metadata: { userId: person.id, method: 'password', change: 'replaced' } },
    ]);
  });

  test('needs the present one in an older session, and by a personal key', async () => {
    const person = await aPersonWithPassword();
    const { client } = await asSession(server, person, { age: 700 });
    for (const actor of [client, person.client]) {
      (await actor.put(MINE, { password: NEW })).expect(403);
      (await actor.put(MINE, { password: NEW, current: 'not this one' })).expect(403);
    }
    (await client.put(MINE, { password: NEW, current: PASSWORD })).expect(204);
    (await person.client.put(MINE, { password: PASSWORD, current: NEW })).expect(204);
    (await client.get('/api/v1/users/me')).expect(401);
  });

  test('gives nobody a way in who came by something that may be lost: a key, or a session left open', async () => {
    const person = await aPerson(server, 'member');
    const { client } = await asSession(server, person, { age: 700 });
    for (const actor of [client, person.client]) {
      (await actor.put(MINE, { password: NEW })).expect(403);
      (await actor.put(MINE, { password: NEW, current: '' })).expect(403);
    }
    const fresh = await asSession(server, person, { age: 30 });
    (await fresh.client.put(MINE, { password: NEW })).expect(204);
    expect((await visitor.signIn(person.email, NEW)).status).toBe(303);
  });

  test('slows guessing at the present one down', async () => {
    const person = await aPersonWithPassword();
    const { client } = await asSession(server, person, { age: 700 });
    for (let i = 0; i < 5; i++) (await client.put(MINE, { password: NEW, current: `wrong ${i}` })).expect(403);
    await server.sql(`update sign_in_slowdowns set next_at = clock_timestamp() + interval '90 seconds' where failures = 5`);
    const slowed = (await client.put(MINE, { password: NEW, current: PASSWORD })).expect(429, 'RATE_LIMITED');
    expect(Number(slowed.headers.get('retry-after'))).toBeGreaterThan(1);
    // Whoever guesses within a session keeps its owner from signing in no more than anybody else does.
    expect((await visitor.signIn(person.email, PASSWORD)).status).toBe(303);
  });

  test.each([
    ['eleven char'], ['a'.repeat(300)], ['password1234!'], ['abcabcabcabc'], ['Letters ph.marlow 9'], ['tab\tbetween words'],
  ])('takes no %j', async (password) => {
    const person = await aPerson(server, 'member', { email: `ph.marlow@example${++n}.test` });
    const { client } = await asSession(server, person);
    const refused = (await client.put(MINE, { password })).expect(400, 'VALIDATION_FAILED');
    expect(refused.at('errors.0.pointer')).toBe('/password');
    expect(JSON.stringify(refused.body)).not.toContain(JSON.stringify(password).slice(1, -1));
    expect(await server.sql('select 1 from passwords where user_id = $1', [person.id])).toEqual([]);
  });

  test('is for people', async () => {
    (await asRoot(server).put(MINE, { password: NEW })).expect(403);
    const agent = await anAgent(server).create();
    (await agent.client.put(MINE, { password: NEW })).expect(403);
    (await anonymous(server).put(MINE, { password: NEW })).expect(401);
  });

  test('needs a page of ours', async () => {
    const person = await aPersonWithPassword();
    const { withoutOrigin } = await asSession(server, person);
    (await withoutOrigin.put(MINE, { password: NEW })).expect(403);
    (await withoutOrigin.with({ origin: 'https://evil.example' }).put(MINE, { password: NEW })).expect(403);
  });
});
