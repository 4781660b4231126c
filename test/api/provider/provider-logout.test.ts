import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous, asRoot } from '../../support/http/actors.js';
import type { Browser } from '../../support/http/browser.js';
import { eventually } from '../../support/running/eventually.js';
import type { ForgedToken } from '../../support/sign-in/oidc-provider.js';
import { aBrowserOf, cookieOf, sessionsOf, signIn, type SignInScenario, startSignIn } from '../../support/sign-in/provider-login.js';
import { originOf } from '../../support/builders/tenants.js';

const BACKCHANNEL = '/api/v1/auth/backchannel-logout';

let scenario: SignInScenario;
beforeAll(async () => {
  scenario = await startSignIn();
});
afterAll(() => scenario.stop());

const me = (browser: Browser) => anonymous(scenario.server).with({ cookie: cookieOf(browser) }).get('/api/v1/users/me');
const seconds = () => Math.floor(Date.now() / 1_000);

async function signedIn(sub: string): Promise<Browser> {
  const browser = await aBrowserOf(scenario.provider, sub);
  expect((await signIn(scenario, browser)).status).toBe(200);
  (await me(browser)).expect(200);
  return browser;
}

/** The provider's own page of signing out, answered with yes. */
async function endAtProvider(browser: Browser, url: string): Promise<void> {
  const page = await browser.visit(url);
  const [, action] = /action="([^"]+)"/.exec(page.text) ?? [];
  const [, xsrf] = /name="xsrf" value="([^"]+)"/.exec(page.text) ?? [];
  await browser.visit(action!, { form: { xsrf: xsrf!, logout: 'yes' } });
}

const send = (token: string) =>
  fetch(`${scenario.server.url}${BACKCHANNEL}`, { method: 'POST', body: new URLSearchParams({ logout_token: token }) });

describe('who signs out here', () => {
  test('is told where to sign out at the provider too, and their refresh token is revoked there', async () => {
    const browser = await signedIn('ada');
    await scenario.provider.forgetCounts();
    const cookie = cookieOf(browser);
    const onPage = anonymous(scenario.server).with({ cookie, origin: originOf(scenario.server) });
    const out = (await onPage.post('/api/v1/auth/logout')).expect(200);
    const url = new URL(out.text('endSessionUrl'));
    expect([url.origin, url.searchParams.get('post_logout_redirect_uri')]).toEqual([
      scenario.provider.issuer, `${originOf(scenario.server)}/sign-in`,
    ]);
    expect(url.searchParams.get('id_token_hint')).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(out.headers.get('set-cookie')).toMatch(/^countersign=; Path=\/; Max-Age=0;/);
    (await me(browser)).expect(401);
    expect((await scenario.provider.counts()).requests['/token/revocation']).toBe(1);
    expect((await sessionsOf(scenario.server, 'ada'))[0]).toMatchObject({ end_reason: 'asked' });
    await endAtProvider(browser, url.href);
    expect((await scenario.server.sql('select provider_tokens from sessions where provider_tokens is not null'))).toEqual([]);
  });

  test('is signed out though the provider is away', async () => {
    const browser = await signedIn('ada');
    await scenario.provider.away(true);
    const client = anonymous(scenario.server).with({ cookie: cookieOf(browser), origin: originOf(scenario.server) });
    try {
      (await client.post('/api/v1/auth/logout')).expect(200);
    } finally {
      await scenario.provider.away(false);
    }
    (await me(browser)).expect(401);
  });
});

describe('who signs out at the provider', () => {
  test('is signed out here, by the provider’s own call', async () => {
    const [browser, other] = [await signedIn('bob'), await signedIn('bob')];
    await endAtProvider(browser, `${scenario.provider.issuer}/session/end`);
    await eventually(async () => expect((await me(browser)).status).toBe(401));
    (await me(other)).expect(200);
    const ended = (await sessionsOf(scenario.server, 'bob')).find(({ end_reason: reason }) => reason === 'provider')!;
    const entries = (await asRoot(scenario.server).get('/api/v1/audit', { query: { event: 'auth.logout', limit: 5 } })).expect(200);
    expect(entries.list('entries')[0]).toMatchObject({
      actorId: 'system', metadata: { sessionId: ended.id, userId: ended.user_id, reason: 'provider' },
    });
  });

  test('everywhere, is signed out of all sessions; nobody else is', async () => {
    const [one, two, other] = [await signedIn('cleo'), await signedIn('cleo'), await signedIn('dora')];
    const token = await scenario.provider.logoutToken({ sub: 'cleo' });
    expect((await send(token)).status).toBe(200);
    expect([(await me(one)).status, (await me(two)).status, (await me(other)).status]).toEqual([401, 401, 200]);
    expect((await send(token)).status).toBe(400);
  });

  test('of a session that is none of ours, or not theirs, is heard, and nothing ends', async () => {
    const browser = await signedIn('eve');
    for (const claims of [{ sub: 'eve', sid: 'unknown' }, { sid: 'unknown' }, { sub: 'nobody-here' }]) {
      expect((await send(await scenario.provider.logoutToken(claims))).status).toBe(200);
    }
    (await me(browser)).expect(200);
  });
});

describe('no session ends by a logout token', () => {
  const forged: readonly [string, Record<string, unknown>, Omit<ForgedToken, 'claims'>?][] = [
    ['of another issuer', { iss: 'https://evil.example' }],
    ['for another client', { aud: 'other' }],
    ['for nobody', { sub: null }],
    ['without its event', { events: null }],
    ['with a nonce', { nonce: 'n' }],
    ['without a name', { jti: null }],
    ['of ten minutes ago', { iat: seconds() - 600, exp: seconds() + 600 }],
    ['of tomorrow', { iat: seconds() + 86_400, exp: seconds() + 90_000 }],
    ['that is over', { exp: seconds() - 1 }],
    ['that nobody signed', {}, { by: 'none' }],
    ['signed by the client’s secret', {}, { by: 'secret' }],
    ['signed by the public key as a secret', {}, { by: 'public' }],
    ['signed by a key that nobody published', {}, { by: 'stranger' }],
    ['by an algorithm that is not taken', {}, { by: 'other-alg' }],
    ['of another kind', {}, { header: { typ: 'at+jwt' } }],
    ['with an extension that must be understood', {}, { header: { crit: ['x'], x: 1 } }],
  ];

  test.each(forged)('%s', async (_, claims, how = {}) => {
    const before = await sessionsOf(scenario.server, 'frida');
    const browser = before.length === 0 ? await signedIn('frida') : undefined;
    expect((await send(await scenario.provider.logoutToken({ sub: 'frida', ...claims }, how))).status).toBe(400);
    if (browser !== undefined) (await me(browser)).expect(200);
    expect((await sessionsOf(scenario.server, 'frida')).map(({ end_reason: reason }) => reason)).toEqual([null]);
  });

  test.each<[string, number, RequestInit]>([
    ['in no form', 415, { body: '{"logout_token":"x"}', headers: { 'content-type': 'application/json' } }],
    ['that is not there', 400, { body: new URLSearchParams({ token: 'x' }) }],
    ['that is there twice', 400, { body: new URLSearchParams([['logout_token', 'x'], ['logout_token', 'x']]) }],
    ['that is none', 400, { body: new URLSearchParams({ logout_token: 'x.y.z' }) }],
    ['of 20 KB', 400, { body: new URLSearchParams({ logout_token: 'x'.repeat(20_000) }) }],
  ])('%s', async (_, status, init) => {
    expect((await fetch(`${scenario.server.url}${BACKCHANNEL}`, { method: 'POST', ...init })).status).toBe(status);
  });
});
