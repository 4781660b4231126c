import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SealedBox } from '../../../src/platform/secrets/sealed-box.js';
import type { Browser, Page } from '../../support/http/browser.js';
import { Browser as AnyBrowser } from '../../support/http/browser.js';
import type { Tampering } from '../../support/sign-in/oidc-provider.js';
import {
  aBrowserOf, CALLBACK, LOGIN, sessionsOf, type SignInScenario, startSignIn, wayBack,
} from '../../support/sign-in/provider-login.js';
import { originOf } from '../../support/builders/tenants.js';
import { TEST_ENVIRONMENT } from '../../support/servers/test-run.js';

let scenario: SignInScenario;
beforeAll(async () => {
  scenario = await startSignIn();
});
afterAll(() => scenario.stop());

/** Somebody who comes back from the provider, and what is done to what they bring. */
interface Attempt {
  readonly browser: Browser;
  readonly back: URL;
  readonly headers: Readonly<Record<string, string>>;
}

let count = 0;
const boxes = {
  ours: new SealedBox({ encryptionKey: TEST_ENVIRONMENT.ENCRYPTION_KEY! }),
  another: new SealedBox({ encryptionKey: Buffer.alloc(32, 7).toString('base64') }),
};

async function anAttempt(sub?: string): Promise<Attempt & { readonly sub: string; readonly address: string }> {
  const n = ++count;
  const who = sub ?? `negative-${n}`;
  const address = `203.0.113.${100 + n}`;
  const headers = { 'x-forwarded-for': address };
  const browser = await aBrowserOf(scenario.provider, who);
  return { browser, headers, sub: who, address, back: await wayBack(scenario, browser, headers) };
}

const goBack = ({ browser, back, headers }: Attempt): Promise<Page> => browser.visit(back, { follow: 0, headers });

function changed({ back, ...rest }: Attempt, change: (query: URLSearchParams) => void): Attempt {
  const url = new URL(back);
  change(url.searchParams);
  return { ...rest, back: url };
}

/** The login cookie of an attempt: its name, and what is sealed in it. */
function loginCookie({ browser, back }: Attempt): { name: string; value: string; login: Record<string, unknown> } {
  const name = `countersign-login-${back.searchParams.get('state')!.slice(0, 8)}`;
  const value = browser.cookie('localhost', name)!;
  const login = JSON.parse(boxes.ours.open('sign-in', name, Buffer.from(value, 'base64url'))!.toString('utf8')) as Record<string, unknown>;
  return { name, value, login };
}

function resealed(attempt: Attempt, change: Record<string, unknown>, box = boxes.ours): Promise<Page> {
  const { name, login } = loginCookie(attempt);
  const sealed = box.seal('sign-in', name, Buffer.from(JSON.stringify({ ...login, ...change })));
  attempt.browser.plant('localhost', name, sealed.toString('base64url'));
  return goBack(attempt);
}

async function tampered(attempt: Attempt, change: Tampering): Promise<Page> {
  await scenario.provider.tamper(change);
  try {
    return await goBack(attempt);
  } finally {
    await scenario.provider.tamper(undefined);
  }
}

/** The codes of the failures that the log tells of an address. */
async function failuresFrom(address: string): Promise<string[]> {
  const rows = await scenario.server.sql<{ payload: string }>(
    `select payload from audit_entries where event = 'auth.failed' and disclosures like $1`, [`%${address}%`]);
  return rows.map(({ payload }) => /"reason":"([a-z_0-9]+)"/.exec(payload)?.[1] ?? payload);
}

const seconds = () => Math.floor(Date.now() / 1_000);

const NOT_UNDER_WAY = ['sign_in_not_under_way'];
const REFUSED = ['sign_in_refused'];

const NEGATIVES: readonly [string, (attempt: Attempt) => Promise<Page>, readonly string[]][] = [
  ['without a state', (a) => goBack(changed(a, (query) => query.delete('state'))), NOT_UNDER_WAY],
  ['with a state that is none', (a) => goBack(changed(a, (query) => query.set('state', '../../x'))), NOT_UNDER_WAY],
  ['in another browser', (a) => goBack({ ...a, browser: new AnyBrowser() }), NOT_UNDER_WAY],
  ['with the state of another sign-in of this browser', async (a) => {
    const other = await wayBack(scenario, a.browser, a.headers);
    return goBack(changed(a, (query) => query.set('state', other.searchParams.get('state')!)));
  }, REFUSED],
  ['with a state that was used, though nothing came of it', async (a) => {
    const { name, value } = loginCookie(a);
    expect((await goBack(changed(a, (query) => query.set('code', 'wrong')))).status).toBe(400);
    a.browser.plant('localhost', name, value);
    return goBack(a);
  }, REFUSED],
  ['after more than ten minutes', (a) => resealed(a, { until: Date.now() - 1 }), NOT_UNDER_WAY],
  ['with a cookie in which one bit is another', (a) => {
    const { name, value } = loginCookie(a);
    const bytes = Buffer.from(value, 'base64url');
    bytes[40]! ^= 1;
    a.browser.plant('localhost', name, bytes.toString('base64url'));
    return goBack(a);
  }, NOT_UNDER_WAY],
  ['with a cookie that somebody else sealed', (a) => resealed(a, {}, boxes.another), NOT_UNDER_WAY],
  ['with the cookie of another sign-in', (a) => {
    const { name, login } = loginCookie(a);
    const sealed = boxes.ours.seal('sign-in', 'countersign-login-xxxxxxxx', Buffer.from(JSON.stringify(login)));
    a.browser.plant('localhost', name, sealed.toString('base64url'));
    return goBack(a);
  }, NOT_UNDER_WAY],
  ['without a nonce', (a) => tampered(a, { claims: { nonce: null } }), REFUSED],
  ['with the nonce of another sign-in', (a) => tampered(a, { claims: { nonce: 'of-another' } }), REFUSED],
  ['with the name of another provider', (a) => goBack(changed(a, (query) => query.set('iss', 'https://evil.example'))), REFUSED],
  ['with a token of another issuer', (a) => tampered(a, { claims: { iss: 'https://evil.example' } }), REFUSED],
  ['with a token for another client', (a) => tampered(a, { claims: { aud: scenario.provider.otherClient.id } }), REFUSED],
  ['with a token of several audiences that another client asked for', (a) =>
    tampered(a, { claims: { aud: [scenario.provider.clientId, 'other'], azp: 'other' } }), REFUSED],
  ['with a token that is over', (a) => tampered(a, { claims: { iat: seconds() - 7_200, exp: seconds() - 3_600 } }), REFUSED],
  ['with a token of the next hour', (a) => tampered(a, { claims: { iat: seconds() + 3_600, exp: seconds() + 7_200 } }), REFUSED],
  ['with a token without an end', (a) => tampered(a, { claims: { exp: null } }), REFUSED],
  ['with a token that nobody signed', (a) => tampered(a, { by: 'none' }), REFUSED],
  ['with a token signed by the client’s secret', (a) => tampered(a, { by: 'secret' }), REFUSED],
  ['with a token signed by the public key as a secret', (a) => tampered(a, { by: 'public' }), REFUSED],
  ['with a token signed by a key that nobody published', (a) => tampered(a, { by: 'stranger' }), REFUSED],
  ['with a token by an algorithm that is published and not taken', (a) => tampered(a, { by: 'other-alg' }), REFUSED],
  ['with claims that were changed under the signature', (a) => tampered(a, { by: 'kept', claims: { role: 'owner' } }), REFUSED],
  ['without an id token', (a) => tampered(a, { body: { id_token: null } }), REFUSED],
  ['with a role that nobody knows', (a) => tampered(a, { claims: { role: 'root' } }), REFUSED],
  ['with a code that the provider gave another client', async (a) => {
    const { login } = loginCookie(a);
    const page = await a.browser.visit(`${originOf(scenario.server)}${LOGIN}`, { follow: 0 });
    const url = new URL(page.headers.get('location')!);
    url.searchParams.set('client_id', scenario.provider.otherClient.id);
    url.searchParams.set('nonce', String(login['nonce']));
    let hop = url;
    while (hop.pathname !== CALLBACK) hop = new URL((await a.browser.visit(hop, { follow: 0 })).headers.get('location')!, hop);
    return goBack(changed(a, (query) => query.set('code', hop.searchParams.get('code')!)));
  }, REFUSED],
  ['with another verifier', (a) => resealed(a, { verifier: 'x'.repeat(43) }), REFUSED],
  ['with a parameter twice', ({ back, ...rest }) => goBack({ ...rest, back: new URL(`${back.href}&code=x`) }), []],
];

describe('nobody comes in', () => {
  test.each(NEGATIVES)('%s', async (_, act, failures) => {
    const users = await scenario.server.sql('select 1 from users');
    const attempt = await anAttempt();
    const page = await act(attempt);
    expect([page.status, page.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
    expect(page.headers.getSetCookie().filter((line) => /^countersign=[^;]/.test(line))).toEqual([]);
    expect(attempt.browser.cookie('localhost', 'countersign')).toBeUndefined();
    expect([await sessionsOf(scenario.server, attempt.sub), await failuresFrom(attempt.address)]).toEqual([[], failures]);
    expect(await scenario.server.sql('select 1 from users')).toHaveLength(users.length);
  });

  test('whom the provider refused, and what it says of that is not shown', async () => {
    const browser = await aBrowserOf(scenario.provider, 'nobody');
    const page = await browser.visit(await wayBack(scenario, browser), { follow: 0 });
    expect([page.status, await sessionsOf(scenario.server, 'nobody')]).toEqual([400, []]);
    expect(page.text).not.toContain('<b>');
    expect(page.text).toContain('refused or given up at the identity provider');
  });

  test('by a POST to the callback', async () => {
    const { browser, back } = await anAttempt();
    expect((await browser.visit(back, { form: {} })).status).toBe(405);
  });
});

test('a code that is used twice lets nobody in, and costs the session that it was good for its renewal', async () => {
  const first = await anAttempt('replayed');
  expect((await goBack(first)).status).toBe(303);
  const second = await anAttempt('replayed');
  const code = first.back.searchParams.get('code')!;
  expect((await goBack(changed(second, (query) => query.set('code', code)))).status).toBe(400);
  expect(await sessionsOf(scenario.server, 'replayed')).toHaveLength(1);
});

test('of one answer that comes twice at the same time one comes in', async () => {
  const { browser, back } = await anAttempt('doubled');
  const pages = await Promise.all([browser.visit(back, { follow: 0 }), browser.visit(back, { follow: 0 })]);
  expect(pages.map(({ status }) => status).sort()).toEqual([303, 400]);
  expect(await sessionsOf(scenario.server, 'doubled')).toHaveLength(1);
});

test('whatever host the request names, the provider is told ours', async () => {
  const redirect = `${originOf(scenario.server)}${CALLBACK}`;
  const forged: Record<string, string>[] = [
    { host: 'evil.example' }, { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https', forwarded: 'host=evil.example' },
  ];
  for (const headers of forged) {
    const page = await new AnyBrowser().visit(`${originOf(scenario.server)}${LOGIN}`, { follow: 0, headers });
    expect([page.status, new URL(page.headers.get('location')!).searchParams.get('redirect_uri')]).toEqual([302, redirect]);
    const { browser, back } = await anAttempt('forger');
    const returned = await browser.visit(back, { follow: 0, headers });
    expect([returned.status, returned.headers.get('location')]).toEqual([303, '/docs']);
  }
});

describe('who has signed in is sent to a path of ours', () => {
  const long = `/${'a'.repeat(2_048)}`;
  test.each<[string, string]>([
    ['/docs?a=1&b=2#x', '/docs?a=1&b=2#x'], ['', '/sign-in'], ['docs', '/sign-in'], ['//evil.example', '/sign-in'],
    ['/\\evil.example', '/sign-in'], ['\\\\evil.example', '/sign-in'], ['https:/evil.example', '/sign-in'],
    ['https://evil.example/', '/sign-in'], ['/\t/evil.example', '/sign-in'], ['/\n/evil.example', '/sign-in'],
    ['/%09/evil.example', '/%09/evil.example'], ['javascript:alert(1)', '/sign-in'], ['data:text/html,x', '/sign-in'],
    [LOGIN, '/sign-in'], ['/api/v1/auth/../auth/login', '/sign-in'], ['/API/v1/auth/login', '/sign-in'], ['/.//evil.example', '/sign-in'],
    ['/internal/v1/tenants', '/sign-in'], [long, '/sign-in'],
  ])('%j → %s', async (returnTo, wanted) => {
    const browser = await aBrowserOf(scenario.provider, 'returning');
    const target = `${originOf(scenario.server)}${LOGIN}?returnTo=${encodeURIComponent(returnTo)}`;
    let page = await browser.visit(target, { follow: 0 });
    while (page.url.pathname !== CALLBACK) page = await browser.visit(new URL(page.headers.get('location')!, page.url), { follow: 0 });
    expect([page.status, page.headers.get('location')]).toEqual([303, wanted]);
  });

  test('and not to one of two', async () => {
    const page = await new AnyBrowser().visit(`${originOf(scenario.server)}${LOGIN}?returnTo=/docs&returnTo=//evil.example`, { follow: 0 });
    expect([page.status, page.headers.get('location')]).toEqual([400, null]);
  });
});
