import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous, asRoot } from '../../support/http/actors.js';
import { Browser } from '../../support/http/browser.js';
import { aPerson, firstOrganization } from '../../support/builders/people.js';
import {
  aBrowserOf, CALLBACK, cookieOf, LOGIN, sessionsOf, signIn, type SignInScenario, startSignIn, wayBack,
} from '../../support/sign-in/provider-login.js';
import { startServer } from '../../support/servers/server.js';
import { asSession, originOf } from '../../support/builders/tenants.js';

let scenario: SignInScenario;
beforeAll(async () => {
  scenario = await startSignIn();
});
afterAll(() => scenario.stop());

describe('who signs in at the provider', () => {
  test('comes back with a session, to where they wanted to go, as what the provider says', async () => {
    const browser = await aBrowserOf(scenario.provider, 'ada', { role: 'member', name: 'Ada' });
    const page = await signIn(scenario, browser, '/docs?x=1');
    expect([page.status, `${page.url.pathname}${page.url.search}`]).toEqual([200, '/docs?x=1']);
    expect(page.hops.map(({ pathname }) => pathname)).toContain(CALLBACK);
    const me = (await anonymous(scenario.server).with({ cookie: cookieOf(browser) }).get('/api/v1/users/me')).expect(200);
    expect(me.at('user')).toMatchObject({ email: 'ada@example.test', name: 'Ada', role: 'member' });
    const [session] = await sessionsOf(scenario.server, 'ada');
    expect(session).toMatchObject({ user_id: me.text('user.id'), ended_at: null });
    const entries = (await asRoot(scenario.server).get('/api/v1/audit', { query: { event: 'auth.login', limit: 5 } })).expect(200);
    expect(entries.list('entries')[0]).toMatchObject({
      actorId: me.text('user.id'), metadata: { sessionId: session!.id, method: 'provider', issuer: scenario.provider.issuer },
    });
  });

  test('shows the provider the client, its secret and the verifier in the form, as documented', async () => {
    await signIn(scenario, await aBrowserOf(scenario.provider, 'ada'));
    expect((await scenario.provider.counts()).lastForm).toEqual([
      'client_id', 'client_secret', 'code', 'code_verifier', 'grant_type', 'redirect_uri',
    ]);
  });

  test('is sent there with state, nonce and a challenge by S256, and leaves nothing here', async () => {
    const before = await scenario.server.sql('select 1 from spent_once');
    const page = await new Browser().visit(`${originOf(scenario.server)}${LOGIN}`, { follow: 0 });
    const url = new URL(page.headers.get('location')!);
    expect([page.status, url.origin]).toEqual([302, scenario.provider.issuer]);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code', client_id: scenario.provider.clientId, redirect_uri: `${originOf(scenario.server)}${CALLBACK}`,
      code_challenge_method: 'S256', state: expect.stringMatching(/^[\w-]{43}$/), nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/), scope: expect.stringContaining('openid'),
    });
    const cookies = page.headers.getSetCookie();
    expect(cookies).toEqual([expect.stringMatching(/^countersign-login-[\w-]{8}=[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/)]);
    expect(cookies[0]!.length).toBeLessThan(4_096);
    expect(cookies[0]).not.toContain(url.searchParams.get('nonce'));
    expect(await scenario.server.sql('select 1 from spent_once')).toHaveLength(before.length);
  });

  test('loses the session that the browser had before, whoever it was of, and keeps no login cookie', async () => {
    const bob = await aPerson(scenario.server, 'viewer');
    const held = await asSession(scenario.server, bob);
    const browser = await aBrowserOf(scenario.provider, 'ada');
    browser.plant('localhost', 'countersign', held.cookie.split('=')[1]!);
    const back = await wayBack(scenario, browser);
    const page = await browser.visit(back, { follow: 0 });
    expect(page.status).toBe(303);
    expect(page.headers.getSetCookie().map((line) => line.replace(/=.*?;/, ';'))).toEqual([
      expect.stringMatching(/^countersign-login-[\w-]{8}; Path=\/; Max-Age=0;/), expect.stringMatching(/^countersign; Path=\/; Max-Age=/),
    ]);
    (await held.client.get('/api/v1/users/me')).expect(401);
    expect(await scenario.server.sql('select end_reason, ended_by from sessions where id = $1', [held.id])).toEqual([
      { end_reason: 'replaced', ended_by: (await sessionsOf(scenario.server, 'ada'))[0]!.user_id },
    ]);
  });

  test('may have four sign-ins under way in as many tabs; at the fifth, the others are forgotten', async () => {
    const browser = await aBrowserOf(scenario.provider, 'ada');
    const backs: URL[] = [];
    for (let tab = 0; tab < 4; tab++) backs.push(await wayBack(scenario, browser));
    expect((await browser.visit(backs[0]!, { follow: 0 })).status).toBe(303);
    await wayBack(scenario, browser);
    const last = await wayBack(scenario, browser);
    expect((await browser.visit(backs[1]!, { follow: 0 })).status).toBe(400);
    expect((await browser.visit(last, { follow: 0 })).status).toBe(303);
  });

  test('is answered by a page that can be read where it fails', async () => {
    const page = await new Browser().visit(`${originOf(scenario.server)}${CALLBACK}?state=x`);
    expect([page.status, page.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
    expect(page.text).toContain('Begin again');
  });
});

describe('without a provider', () => {
  test('there is no such way in', async () => {
    const server = await startServer({ replicaOf: scenario.server });
    const browser = new Browser();
    for (const path of [LOGIN, `${CALLBACK}?code=x&state=y`]) expect((await browser.visit(`${originOf(server)}${path}`)).status).toBe(404);
    const posted = await browser.visit(`${originOf(server)}/api/v1/auth/backchannel-logout`, { form: { logout_token: 'x' } });
    expect(posted.status).toBe(404);
    await server.stop();
  });
});

test('an account of somebody else’s address is not theirs', async () => {
  const owner = await aPerson(scenario.server, 'owner', { organizationId: await firstOrganization(scenario.server) });
  const browser = await aBrowserOf(scenario.provider, 'mallory', { email: owner.email, email_verified: true });
  expect((await signIn(scenario, browser)).status).toBe(403);
  expect(await sessionsOf(scenario.server, 'mallory')).toEqual([]);
});
