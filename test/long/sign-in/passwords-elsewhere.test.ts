import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { anonymous } from '../../support/http/actors.js';
import { aPassword, aVisitor, PASSWORD } from '../../support/sign-in/passwords.js';
import { anOrganization, aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

/** Somebody who runs an organization of their own chose it, for an account with somebody else's address. */
const SQUATTERS = 'nine herons over slate';

let server: TestServer;
let n = 0;

beforeAll(async () => {
  server = await startServer({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
});
afterAll(() => server.stop());
beforeEach(() => server.sql('delete from sign_in_slowdowns'));

/** A network address that nobody has come from before. */
const elsewhere = () => aVisitor(server, `198.51.100.${++n}`);
const guess = async (email: string, more: Readonly<Record<string, string>> = {}, password = 'wrong') =>
  (await (await elsewhere()).signIn(email, password, more)).status;
/** However long the machine takes: whoever has guessed five times waits, and nobody else. */
const pauseLasts = () => server.sql(
  `update sign_in_slowdowns set next_at = clock_timestamp() + case when failures >= 5 then interval '90 seconds' else interval '0' end`);

async function anAccount(password: string, terms: { email?: string; organizationId?: string; age?: number } = {}): Promise<BuiltPerson> {
  const person = await aPerson(server, 'member', terms);
  await aPassword(server, person, password);
  return person;
}

test.each([
  ['named', true], ['not named', false],
])('signing in to one’s own account of the same address gives no new guesses at another one: %s', async (_, isNamed) => {
  const { email } = await anAccount(PASSWORD);
  const there = await anOrganization(server);
  const own = await anAccount(SQUATTERS, { email, organizationId: there });
  const statuses: number[] = [];
  const signIns: number[] = [];
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 4; i++) {
      statuses.push(await guess(email));
      await pauseLasts();
    }
    signIns.push(await guess(email, isNamed ? { organization: there } : {}, SQUATTERS));
    await pauseLasts();
  }
  expect(signIns).toEqual([303, 303, 303]);
  // Five were judged at the other account: own sign-ins that name no organization are guesses at it too.
  expect(statuses).toEqual(isNamed ? [...Array(5).fill(401), ...Array(7).fill(429)] : [...Array(4).fill(401), ...Array(8).fill(429)]);
  expect(await guess(email, {}, PASSWORD)).toBe(429);
  expect(await guess(own.email, {}, SQUATTERS)).toBe(303);
});

test('where one’s own account is known, others of the same address are not', async () => {
  const { email } = await anAccount(PASSWORD);
  await anAccount(SQUATTERS, { email, organizationId: await anOrganization(server) });
  const home = await elsewhere();
  expect((await home.signIn(email, SQUATTERS)).status).toBe(303);
  await server.sql('delete from sign_in_slowdowns');
  expect((await home.signIn(email, 'wrong')).status).toBe(401);
  const rows = await server.sql(
    `select until < clock_timestamp() + interval '2 minutes' as "isOfNetwork", failures from sign_in_slowdowns order by 1, 2`);
  expect(rows).toEqual([
    { isOfNetwork: false, failures: 1 }, { isOfNetwork: false, failures: 1 }, { isOfNetwork: true, failures: 1 },
  ]);
  // From there the network's limit holds for the other account, and not for one's own.
  await server.sql(`update sign_in_slowdowns set failures = 20, next_at = until where until < clock_timestamp() + interval '2 minutes'`);
  expect((await home.signIn(email, PASSWORD)).status).toBe(401);
  expect((await home.signIn(email, SQUATTERS)).status).toBe(303);
});

test('what is slowed down does not tell which organization has an account', async () => {
  const asked = await anOrganization(server);
  const there = await anAccount(PASSWORD, { organizationId: asked });
  const other = await anAccount(PASSWORD);
  for (const email of [there.email, other.email, `nobody.${++n}@example.test`]) {
    for (let i = 0; i < 5; i++) expect([email, await guess(email, { organization: asked })]).toEqual([email, 401]);
    await pauseLasts();
    expect([email, await guess(email, { organization: asked }), await guess(email)]).toEqual([email, 429, 429]);
  }
});

test('accounts elsewhere with one’s address keep nobody out, however many were there before', async () => {
  const name = `The last one ${++n}`;
  const organizationId = await anOrganization(server, { name });
  const person = await anAccount(PASSWORD, { organizationId, age: 60 });
  const { email } = person;
  for (let i = 0; i < 6; i++) await anAccount(SQUATTERS, { email, organizationId: await anOrganization(server), age: 3_600 + i });
  // An organization of that very name, and one that is called as the id.
  for (const taken of [name, organizationId]) {
    await anAccount(SQUATTERS, { email, organizationId: await anOrganization(server, { name: taken }), age: 9_000 });
  }
  expect(await guess(email, {}, PASSWORD)).toBe(401);
  // No more than five were tried.
  const counted = await server.sql(`select 1 from sign_in_slowdowns where until > clock_timestamp() + interval '1 hour'`);
  expect(counted).toHaveLength(5);
  const home = await elsewhere();
  const came = await home.signIn(email, PASSWORD, { organization: ` ${organizationId} ` });
  expect(came.status).toBe(303);
  const me = anonymous(server).with({ cookie: came.session! });
  expect((await me.get('/api/v1/users/me')).expect(200).at('user.id')).toBe(person.id);
  expect(await guess(email, { organization: name.toUpperCase() }, PASSWORD)).toBe(303);
  // Where they have signed in they need not say which it is: the form's field comes empty.
  expect((await home.signIn(email, PASSWORD, { organization: '' })).status).toBe(303);
});

test('the form asks everybody alike, and keeps what was typed', async () => {
  const { email } = await anAccount(PASSWORD);
  const page = await (await fetch(new URL('/sign-in', server.url))).text();
  expect(page).toMatch(/<details>\s*<summary>[^<]+<\/summary>[^]*name="organization"/);
  const again = await (await elsewhere()).signIn(email, 'wrong', { organization: 'Acme & "Co"' });
  expect(again.status).toBe(401);
  expect(again.text).toMatch(/<details open>[^]*value="Acme &amp; &quot;Co&quot;"/);
});
