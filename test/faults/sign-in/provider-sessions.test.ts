import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { anonymous, as } from '../../support/http/actors.js';
import { entriesOf } from '../../support/log/entries.js';
import { Browser } from '../../support/http/browser.js';
import { eventually } from '../../support/running/eventually.js';
import {
  aBrowserOf, CALLBACK, cookieOf, LOGIN, sessionsOf, signIn, type SignInScenario, startSignIn, type StoredSession, wayBack,
} from '../../support/sign-in/provider-login.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { originOf } from '../../support/builders/tenants.js';

let scenario: SignInScenario;
let replica: TestServer;
beforeAll(async () => {
  scenario = await startSignIn();
  replica = await startServer({
    replicaOf: scenario.server,
    env: { ...scenario.provider.env, APP_URL: originOf(scenario.server) },
  });
});
afterAll(async () => {
  await replica.stop();
  await scenario.stop();
});
beforeEach(() => scenario.provider.forgetCounts());

const me = (browser: Browser, server = scenario.server) =>
  anonymous(server).with({ cookie: cookieOf(browser) }).get('/api/v1/users/me');

async function signedIn(sub: string, claims: Record<string, unknown> = {}): Promise<Browser> {
  const browser = await aBrowserOf(scenario.provider, sub, claims);
  expect((await signIn(scenario, browser)).status).toBe(200);
  return browser;
}

/** As if the time had come. */
async function due(sub: string): Promise<void> {
  await scenario.server.sql(
    `update sessions set renew_at = clock_timestamp() - interval '1 second' where ended_at is null and user_id =
       (select user_id from user_identities where subject = $1)`, [sub]);
}

const isLater = ({ renew_at: at }: StoredSession) => at !== null && at.getTime() > Date.now();
const the = async (sub: string) => (await sessionsOf(scenario.server, sub))[0]!;

/** Uses the session until what it was renewed by is there. */
async function renewed(browser: Browser, sub: string): Promise<void> {
  await eventually(async () => {
    (await me(browser)).expect(200);
    expect(await the(sub)).toMatchObject({ renew_failures: 0, renewing_until: null });
    expect(isLater(await the(sub))).toBe(true);
  });
}

async function failedOnce(browser: Browser, sub: string): Promise<void> {
  await eventually(async () => {
    (await me(browser)).expect(200);
    expect(await the(sub)).toMatchObject({ renew_failures: 1, renewing_until: null, ended_at: null });
  });
}

describe('a session that is used when its time has come', () => {
  test('is renewed behind the call, by a refresh token that is shown once', async () => {
    const browser = await signedIn('ada', { role: 'admin' });
    await due('ada');
    await renewed(browser, 'ada');
    await due('ada');
    await renewed(browser, 'ada');
    expect(Object.values((await scenario.provider.counts()).refreshes)).toEqual([1, 1]);
  });

  test('is as much as the provider says from then on', async () => {
    const browser = await signedIn('bob', { role: 'admin' });
    await scenario.server.sql(`update users set role = 'admin' where email = 'bob@example.test'`);
    await scenario.provider.claims('bob', { role: 'viewer', has_subscription: false });
    // The claims' time is in whole seconds.
    await scenario.server.sql(`update user_identities set claims_at = claims_at - interval '5 seconds' where subject = 'bob'`);
    await due('bob');
    await eventually(async () => {
      await me(browser);
      const known = await scenario.server.sql(`select claimed_role as role from user_identities where subject = 'bob'`);
      expect(known).toEqual([{ role: 'viewer' }]);
    });
    expect((await anonymous(scenario.server).with({ cookie: cookieOf(browser), origin: originOf(scenario.server) })
      .post('/api/v1/users', { email: 'x@example.test' })).status).toBe(403);
    const [entry] = await entriesOf(scenario.server, 'auth.claims_changed');
    const { user_id: userId } = await the('bob');
    expect(entry).toMatchObject({ actorId: 'system', metadata: { userId, role: 'viewer', hasSubscription: false } });
  });

  test('ends where the provider does not let its user in any more', async () => {
    const browser = await signedIn('cleo');
    await scenario.provider.disable('cleo');
    await due('cleo');
    await eventually(async () => expect((await me(browser)).status).toBe(401));
    const session = await the('cleo');
    expect(session).toMatchObject({ end_reason: 'provider_refused' });
    expect((await entriesOf(scenario.server, 'auth.logout'))[0]).toMatchObject({
      actorId: 'system', metadata: { sessionId: session.id, userId: session.user_id, reason: 'provider_refused' },
    });
  });

  test('ends where the provider speaks of somebody else, or lies', async () => {
    for (const [sub, claims] of [['dora', { sub: 'ada' }], ['dirk', { tenant_id: 'ten_00000000000000000000000000' }],
      ['dana', { iss: 'https://evil.example' }]] as const) {
      const browser = await signedIn(sub);
      await scenario.provider.tamper({ claims });
      await due(sub);
      await eventually(async () => expect((await me(browser)).status).toBe(401));
      await scenario.provider.tamper(undefined);
      expect(await the(sub)).toMatchObject({ end_reason: 'provider_refused' });
    }
  });

  test('goes on as it is where the provider gives no refresh token', async () => {
    await scenario.provider.tamper({ body: { refresh_token: null } });
    const browser = await signedIn('emil');
    await scenario.provider.tamper(undefined);
    expect(await the('emil')).toMatchObject({ renew_at: null });
    (await me(browser)).expect(200);
  });

  test('is renewed by what the provider answers about its user, where it sends no id token', async () => {
    const browser = await signedIn('fred', { role: 'admin' });
    await scenario.provider.tamper({ body: { id_token: null } });
    await due('fred');
    await renewed(browser, 'fred');
    await scenario.provider.tamper(undefined);
    expect((await scenario.provider.counts()).requests['/me']).toBe(1);
  });

  test('is no more than was answered then, whatever a token from before says', async () => {
    const browser = await signedIn('gina', { role: 'admin' });
    await scenario.server.sql(`update users set role = 'admin' where email = 'gina@example.test'`);
    const before = Math.floor(Date.now() / 1_000) - 60;
    await scenario.server.sql(
      `update user_identities set claims_at = to_timestamp($1) - interval '1 hour' where subject = 'gina'`, [before]);
    const token = await scenario.provider.accessToken('gina', { role: 'admin', iat: before });
    await scenario.provider.claims('gina', { role: 'viewer' });
    await scenario.provider.tamper({ body: { id_token: null } });
    await due('gina');
    await renewed(browser, 'gina');
    await scenario.provider.tamper(undefined);
    expect((await as(scenario.server, token).get('/api/v1/auth/me')).expect(200).at('role')).toBe('viewer');
    expect(await scenario.server.sql(`select claimed_role as role from user_identities where subject = 'gina'`))
      .toEqual([{ role: 'viewer' }]);
  });
});

test('of sessions that are all due at once on two servers, each shows its refresh token once', async () => {
  const browsers: Browser[] = [];
  for (let i = 0; i < 20; i++) browsers.push(await signedIn('many'));
  await scenario.provider.slow(100, '/token');
  await due('many');
  const uses = browsers.flatMap((browser) => [scenario.server, replica, scenario.server, replica].map((server) => me(browser, server)));
  for (const answer of await Promise.all(uses)) answer.expect(200);
  await eventually(async () => {
    await Promise.all(browsers.map((browser) => me(browser, replica)));
    expect((await sessionsOf(scenario.server, 'many')).filter((one) => !isLater(one))).toEqual([]);
  });
  await scenario.provider.slow(0, '/token');
  const { refreshes, mostInFlight } = await scenario.provider.counts();
  expect(Object.values(refreshes)).toEqual(browsers.map(() => 1));
  expect(mostInFlight).toBeLessThanOrEqual(8);
});

describe('a provider', () => {
  test.each<[string, (on: boolean) => Promise<void>]>([
    ['that is away', (on) => scenario.provider.away(on)],
    ['that fails', (on) => scenario.provider.status(on ? 500 : undefined)],
  ])('%s ends no session, and is asked again later', async (_, fail) => {
    const browser = await signedIn('gina');
    await fail(true);
    await due('gina');
    await failedOnce(browser, 'gina');
    await fail(false);
    await due('gina');
    await renewed(browser, 'gina');
  });

  test.each<[string, (on: boolean) => Promise<void>]>([
    ['that does not answer in time', (on) => scenario.provider.slow(on ? 8_000 : 0, '/token')],
    ['that breaks off in the middle of its answer', (on) => scenario.provider.half(on, '/token')],
  ])('%s ends no session; what it then makes of the token that it saw is its own affair', async (_, fail) => {
    const browser = await signedIn('hugo');
    await fail(true);
    await due('hugo');
    await failedOnce(browser, 'hugo');
    await fail(false);
    await due('hugo');
    await eventually(async () => {
      await me(browser);
      const session = await the('hugo');
      expect(session.end_reason === 'provider_refused' || (session.ended_at === null && session.renew_failures === 0)).toBe(true);
    });
  });

  test('whose keys have changed is believed by the new ones', async () => {
    const browser = await signedIn('ines');
    await scenario.provider.rotateKeys();
    await due('ines');
    await renewed(browser, 'ines');
    await signedIn('iris');
  });

  test('that fails while somebody signs in is told apart from what they brought', async () => {
    for (const [fail, status] of [
      [(on: boolean) => scenario.provider.away(on), 503], [(on: boolean) => scenario.provider.status(on ? 500 : undefined, '/token'), 502],
      [(on: boolean) => scenario.provider.half(on, '/token'), 502],
      [(on: boolean) => scenario.provider.slow(on ? 8_000 : 0, '/token'), 504],
    ] as const) {
      const browser = await aBrowserOf(scenario.provider, 'karl');
      const back = await wayBack(scenario, browser);
      await fail(true);
      const page = await browser.visit(back, { follow: 0 });
      await fail(false);
      expect([page.status, page.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
      expect(page.headers.getSetCookie()).toEqual([expect.stringMatching(/^countersign-login-[\w-]{8}=; Path=\/; Max-Age=0;/)]);
    }
    expect(await sessionsOf(scenario.server, 'karl')).toEqual([]);
  });

  test('that has never said what it can do is asked now and then, and not by each who comes', async () => {
    await scenario.provider.status(500);
    await replica.restart();
    const pages = [];
    for (let i = 0; i < 10; i++) pages.push(await new Browser().visit(`${originOf(replica)}${LOGIN}`, { follow: 0 }));
    expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 503));
    expect(Number(pages[0]!.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await scenario.provider.counts()).requests['/.well-known/openid-configuration']).toBeLessThan(5);
    await scenario.provider.status(undefined);
    await eventually(async () => {
      expect((await new Browser().visit(`${originOf(replica)}${LOGIN}`, { follow: 0 })).status).toBe(302);
    });
  });

  test('is not stormed while it fails, and asked again by one after a while', async () => {
    const browsers: Browser[] = [];
    for (let i = 0; i < 14; i++) browsers.push(await signedIn('lena'));
    await scenario.provider.forgetCounts();
    await scenario.provider.status(500, '/token');
    for (const browser of browsers) {
      await due('lena');
      (await me(browser)).expect(200);
    }
    await eventually(async () => {
      const sessions = await sessionsOf(scenario.server, 'lena');
      expect(sessions.filter(({ renewing_until: until }) => until !== null)).toEqual([]);
      expect((await scenario.provider.counts()).requests['/token']).toBeGreaterThanOrEqual(5);
    });
    expect((await scenario.provider.counts()).requests['/token']).toBeLessThanOrEqual(9);
    await scenario.provider.status(undefined, '/token');
    await due('lena');
    await eventually(async () => {
      for (const browser of browsers) (await me(browser)).expect(200);
      expect((await sessionsOf(scenario.server, 'lena')).filter((one) => !isLater(one))).toEqual([]);
    }, { within: 90_000 });
  });
});

test('a server that dies in the middle of a renewal holds nobody up', async () => {
  const browser = await signedIn('mona');
  await scenario.provider.slow(4_000, '/token');
  await due('mona');
  (await me(browser, replica)).expect(200);
  await eventually(async () => expect((await scenario.provider.counts()).requests['/token']).toBe(2));
  await replica.kill();
  await scenario.provider.slow(0, '/token');
  await scenario.server.sql(
    `update sessions set renewing_until = clock_timestamp() - interval '1 second' where renewing_until is not null`);
  await eventually(async () => {
    await me(browser);
    const session = await the('mona');
    expect(session.ended_at !== null || isLater(session)).toBe(true);
  });
  await replica.restart();
});

test(`${CALLBACK} of one server may be that of another`, async () => {
  const browser = await aBrowserOf(scenario.provider, 'nora');
  const back = await wayBack(scenario, browser);
  const page = await browser.visit(`${originOf(replica)}${back.pathname}${back.search}`, { follow: 0 });
  expect(page.status).toBe(303);
  (await me(browser, replica)).expect(200);
});
