import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous, asRoot } from '../../support/http/actors.js';
import { Browser, type Page } from '../../support/http/browser.js';
import { aPerson } from '../../support/builders/people.js';
import { aPassword } from '../../support/sign-in/passwords.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { asSession, originOf } from '../../support/builders/tenants.js';

const PASSWORD = 'lantern orbit gravel nine';
let server: TestServer;
let origin: string;

beforeAll(async () => {
  server = await startServer();
  origin = originOf(server);
});

afterAll(() => server.stop());

const fieldOf = (page: Page, name: string): string =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(page.text)?.[1] ?? `no ${name} in ${page.text}`;

async function invite(email: string): Promise<string> {
  const { link } = (await asRoot(server).post<{ link: string }>('/api/v1/users/invitations', { email, role: 'viewer' })).expect(201).body;
  return link;
}

/** A browser whose person took an invitation by the page's form. */
async function taken(email: string): Promise<{ browser: Browser; page: Page }> {
  const browser = new Browser();
  const link = await invite(email);
  const shown = await browser.visit(link);
  return { browser, page: await browser.visit(link, { form: { password: PASSWORD, formToken: fieldOf(shown, 'formToken') } }) };
}

describe('the pages', () => {
  test('load nothing from elsewhere, run nothing inline, and stand in no frame', async () => {
    const browser = new Browser();
    for (const url of [`${origin}/sign-in`, await invite('policy@example.test')]) {
      const { status, headers, text } = await browser.visit(url);
      expect(status).toBe(200);
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; "
        + "frame-ancestors 'none'; base-uri 'none'");
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(text).not.toMatch(/<script(?! src="\/)|<style| style=| on[a-z]+=|https?:/);
    }
  });

  test('are served with their parts', async () => {
    for (const [name, type] of [['sign-in.css', 'text/css'], ['sign-in.js', 'text/javascript'], ['webauthn.js', 'text/javascript']]) {
      const { status, headers } = await anonymous(server).get(`/sign-in/assets/${name}`);
      const kind = headers.get('content-type')?.split(';')[0];
      expect([status, kind, headers.get('cache-control')]).toEqual([200, type, 'public, max-age=3600']);
    }
    (await anonymous(server).get('/sign-in/assets/other.js')).expect(404);
  });

  test.each([
    '//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)', '/\t/evil', '"><script>', '/api/v1/auth/login',
  ])(
    'never lead to %s', async (returnTo) => {
      const { text } = await new Browser().visit(`${origin}/sign-in?returnTo=${encodeURIComponent(returnTo)}&done=<b>`);
      expect(text).toContain('name="returnTo" value="/sign-in"');
      expect(text).not.toMatch(/evil|alert\(|<b>/);
    });

  test('are refused as pages to browsers, and as problems to programs', async () => {
    const path = `/invitations/${'0'.repeat(64)}`;
    const page = await new Browser().visit(`${origin}${path}`);
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    (await anonymous(server).get(path)).expect(404, 'NOT_FOUND');
  });
});

describe('an invitation', () => {
  test('is taken with a password, once; looking uses nothing up', async () => {
    const link = await invite('look@example.test');
    for (let i = 0; i < 3; i++) expect((await new Browser().visit(link)).text).toContain('look@example.test');
    const { page, browser } = await taken('taken@example.test');
    expect([page.status, page.url.pathname]).toEqual([200, '/sign-in']);
    expect(page.text).toContain('taken@example.test');
    expect(browser.cookie('localhost', 'countersign')).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  test.each([['', 'at least 12'], ['short', 'at least 12'], ['password1234', 'many people'], ['weak-15 orbits!', 'name']])(
    'is not taken with %j, and stays', async (password, why) => {
      const link = await invite(`weak-${password.length}@example.test`);
      const browser = new Browser();
      const shown = await browser.visit(link);
      const page = await browser.visit(link, { form: { password, formToken: fieldOf(shown, 'formToken') } });
      expect(page.status).toBe(400);
      expect(page.text).toMatch(new RegExp(`The password must [^<]*${why}`));
      expect((await browser.visit(link)).status).toBe(200);
    });
});

describe('the form', () => {
  /** Somebody with a password that costs little to judge. */
  const registered = async (email: string) => aPassword(server, await aPerson(server, 'viewer', { email }), PASSWORD);
  const post = async (browser: Browser, form: Record<string, string>, headers: Record<string, string> = {}) => {
    const shown = await browser.visit(`${origin}/sign-in`);
    return browser.visit(`${origin}/sign-in`, { form: { formToken: fieldOf(shown, 'formToken'), ...form }, headers, follow: 0 });
  };

  test('signs in, and leads on to a path of ours alone', async () => {
    await registered('form@example.test');
    for (const [returnTo, wanted] of [['/docs', '/docs'], ['//evil.example', '/sign-in']]) {
      const page = await post(new Browser(), { email: 'Form@Example.test', password: PASSWORD, returnTo: returnTo! });
      expect([page.status, page.headers.get('location')]).toEqual([303, wanted]);
    }
  });

  test('says the same of an unknown address, a wrong password and what is no address', async () => {
    await registered('same@example.test');
    const texts = new Set<string>();
    for (const email of ['same@example.test', 'unknown@example.test']) {
      const page = await post(new Browser(), { email, password: 'wrong wrong wrong wrong' });
      expect([page.status, page.headers.getSetCookie().some((line) => line.startsWith('countersign='))]).toEqual([401, false]);
      texts.add(page.text.replaceAll(email, '').replace(/name="formToken" value="[^"]*"/, ''));
    }
    expect(texts.size).toBe(1);
    for (const email of ['', 'no address', 'a\u0000b@example.test', `${'a'.repeat(300)}@example.test`]) {
      expect((await post(new Browser(), { email, password: PASSWORD })).status).toBe(401);
    }
    expect((await post(new Browser(), { email: 'same@example.test', password: PASSWORD, organization: `'; --\u0000` })).status).toBe(401);
  });

  test('is taken from our own page and this very browser alone', async () => {
    await registered('csrf@example.test');
    const form = { email: 'csrf@example.test', password: PASSWORD };
    const other = fieldOf(await new Browser().visit(`${origin}/sign-in`), 'formToken');
    for (const formToken of ['', other, 'x'.repeat(64)]) expect((await post(new Browser(), { ...form, formToken })).status).toBe(403);
    for (const from of ['null', 'https://evil.example', 'http://localhost:1', origin.replace('http:', 'https:')]) {
      expect((await post(new Browser(), form, { origin: from, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    }
    expect((await post(new Browser(), form)).status).toBe(303);
  });

  test('slows down whoever guesses, at once and with the time to wait', async () => {
    await registered('slow@example.test');
    const browser = new Browser();
    const seen = [];
    for (let i = 0; i < 8; i++) seen.push(await post(browser, { email: 'slow@example.test', password: `wrong wrong wrong ${i}` }));
    const slowed = seen.find(({ status }) => status === 429);
    expect(Number(slowed?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(slowed?.text).toContain('role="alert"');
  });
});

describe("one's own page", () => {
  const FORMS = [
    '/sign-in/sign-out', '/sign-in/password', `/sign-in/sessions/sess_${'0'.repeat(36)}/end`,
    `/sign-in/passkeys/pky_${'0'.repeat(36)}/remove`,
  ];

  test('changes nothing for a form of another session, of another page, or without a token', async () => {
    const [ada, bob] = await Promise.all([aPerson(server, 'admin'), aPerson(server, 'admin')]);
    const [mine, theirs] = [await asSession(server, ada), await asSession(server, bob)];
    const tokenOf = async (cookie: string) => {
      const browser = new Browser();
      browser.plant('localhost', 'countersign', cookie.split('=')[1]!);
      return fieldOf(await browser.visit(`${origin}/sign-in`), 'formToken');
    };
    const [own, foreign] = [await tokenOf(mine.cookie), await tokenOf(theirs.cookie)];
    const send = (path: string, formToken: string, headers: Record<string, string>) => fetch(`${server.url}${path}`, {
      method: 'POST', redirect: 'manual', headers: { cookie: mine.cookie, ...headers },
      body: new URLSearchParams({ formToken, password: PASSWORD }),
    });
    for (const path of FORMS) {
      for (const [token, headers] of [
        [foreign, { origin }], ['', { origin }], [own, {}], [own, { origin: 'null' }], [own, { origin: 'https://evil.example' }],
        [own, { origin: 'http://localhost:1' }],
      ] as const) expect([path, (await send(path, token, headers as Record<string, string>)).status]).toEqual([path, 403]);
    }
    (await mine.client.get('/api/v1/auth/me')).expect(200);
    expect((await send('/sign-in/sign-out', own, { origin })).status).toBe(303);
    (await mine.client.get('/api/v1/auth/me')).expect(401);
  });

  test('ends another session, sets a password, and asks for the present one where the session is old', async () => {
    const { browser, page } = await taken('own@example.test');
    const [user] = await server.sql<{ id: string; organizationId: string }>(
      `select id, organization_id as "organizationId" from users where email = 'own@example.test'`);
    const other = await asSession(server, user!);
    const formToken = fieldOf(page, 'formToken');
    const ended = await browser.visit(`${origin}/sign-in/sessions/${other.id}/end`, { form: { formToken } });
    expect(ended.text).toContain('That session has ended.');
    (await other.client.get('/api/v1/auth/me')).expect(401);
    await server.sql(`update sessions set created_at = created_at - interval '11 minutes' where user_id = $1`, [user!.id]);
    const set = (form: Record<string, string>) => browser.visit(`${origin}/sign-in/password`, { form: { formToken, ...form } });
    const password = 'meadow cobalt winter seven';
    expect([(await set({ password })).status, (await set({ password, current: 'wrong' })).status]).toEqual([403, 403]);
    expect((await set({ password: 'short', current: PASSWORD })).status).toBe(400);
    expect((await set({ password, current: PASSWORD })).text).toContain('The new password holds.');
  });
});
