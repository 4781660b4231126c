import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { ACCESS, type AccessKey, type Permission } from '../../src/domain/access/access.js';
import { SealedBox } from '../../src/platform/secrets/sealed-box.js';
import type { Client, Reply } from '../support/actors.js';
import { goodBody } from '../support/bad-bodies.js';
import { aPerson, type BuiltPerson } from '../support/people.js';
import { isPublic, pathOf, type Route, routesOf } from '../support/routes.js';
import { startServer, type TestServer } from '../support/server.js';
import { asSession, originOf } from '../support/signed-in.js';
import { storedState } from '../support/stored-state.js';
import { TEST_ENVIRONMENT } from '../support/test-run.js';

jest.setTimeout(120_000);

// Whatever a page of another site can make a browser send along with somebody's cookie × every route that changes something.
// Which those are the running server says itself.

const CONSOLE = 'https://console.example';
const FORM = 'application/x-www-form-urlencoded';
const TOKEN_OF_ANOTHER = new SealedBox({ encryptionKey: TEST_ENVIRONMENT['ENCRYPTION_KEY']! }).mac('forms', `session ${'a'.repeat(43)}`);

let server: TestServer;
let routes: Route[];
let owner: BuiltPerson;
/** The cookie alone. */
let browser: Client;
let ours: string;

beforeAll(async () => {
  server = await startServer({ env: { CORS_ORIGINS: CONSOLE } });
  ours = originOf(server);
  owner = await aPerson(server, 'owner');
  // Fresh, so that not even its use is written down.
  ({ withoutOrigin: browser } = await asSession(server, owner, { age: 1 }));
  routes = (await routesOf(server)).filter(changes);
});
afterAll(() => server.stop());

const changesByGet = (route: Route): boolean => {
  const permission: Permission | undefined = ACCESS[route.access as AccessKey];
  return permission?.changes === true;
};
const changes = (route: Route): boolean => !isPublic(route) && (route.method !== 'GET' || changesByGet(route));

interface Attempt {
  readonly headers: (ours: string) => Readonly<Record<string, string>>;
  /** Sent as it stands instead of the route's JSON. */
  readonly body?: string;
}

const from = (headers: Readonly<Record<string, string>>): Attempt => ({ headers: () => headers });
const typed = (type: string, body: string): Attempt => ({ headers: (origin) => ({ origin, 'content-type': type }), body });
const at = (change: (url: URL) => void): Attempt => ({
  headers: (origin) => {
    const url = new URL(origin);
    change(url);
    return { origin: url.origin };
  },
});

const REFUSED: Readonly<Record<string, Attempt>> = {
  'no origin': from({}),
  'no origin, and a referrer that looks right': { headers: (origin) => ({ referer: `${origin}/sign-in` }) },
  'the origin null': from({ origin: 'null' }),
  'the origin null, of a page that claims to be ours': from({ origin: 'null', 'sec-fetch-site': 'same-origin' }),
  'the origin of another site': from({ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }),
  'a host that begins like a listed one': from({ origin: `${CONSOLE}.evil.example` }),
  'a host that ends like a listed one': from({ origin: 'https://evil-console.example' }),
  'a listed host without TLS': from({ origin: 'http://console.example' }),
  'a listed host on another port': from({ origin: `${CONSOLE}:8443` }),
  'a sibling port on our host': at((url) => (url.port = String((Number(url.port) % 60_000) + 1))),
  'our host with another scheme': at((url) => (url.protocol = 'https:')),
  'a subdomain of our host': at((url) => (url.hostname = `evil.${url.hostname}`)),
  'our origin with a path behind it': { headers: (origin) => ({ origin: `${origin}/` }) },
  'a page of the same site': from({ 'sec-fetch-site': 'same-site' }),
  'no page at all, as where an address is typed': from({ 'sec-fetch-site': 'none' }),
  'our origin, and a body of plain text': typed('text/plain', '{}'),
  'our origin, and a form': typed(FORM, 'name=x'),
  'our origin, and a form with a token of its own': typed(FORM, `formToken=${'0'.repeat(64)}`),
  'our origin, and a form with the token of another session': typed(FORM, `formToken=${TOKEN_OF_ANOTHER}`),
  'our origin, and a form of several parts': typed('multipart/form-data; boundary=x', '--x--'),
  'our origin, and a body that only ends as JSON': typed('text/plain; application/json', '{}'),
  'our origin, and a body of no type': typed('', '{}'),
};

const LET_IN: Readonly<Record<string, Attempt>> = {
  'our origin': { headers: (origin) => ({ origin }) },
  'a listed origin': from({ origin: CONSOLE }),
  'a page of ours that hides its origin from nobody': from({ 'sec-fetch-site': 'same-origin' }),
};

const REFUSED_PAGE = /^A browser changes nothing here: /;
/** Of routes that take forms: they look at the token themselves, once the page is right. */
const REFUSED_FORM = /^The form is not from this browser/;

/** Only what is not JSON needs a body; a GET has none in any case. */
async function send(client: Client, route: Route, { headers, body }: Attempt): Promise<Reply> {
  const path = pathOf(route);
  const options = { headers: headers(ours), ...(body === undefined ? {} : { raw: body }) };
  const json = route.takesBody && body === undefined ? goodBody(route, { agentId: 'x', userId: 'x', organizationId: 'x' }) : undefined;
  switch (route.method) {
    case 'GET':
      return client.get(path, { headers: headers(ours) });
    case 'DELETE':
      return client.delete(path, json, options);
    case 'PATCH':
      return client.patch(path, json, options);
    case 'PUT':
      return client.put(path, json, options);
    default:
      return client.post(path, json, options);
  }
}

/** A form is sent as the page shows it, with its token. */
async function shown(client: Client, route: Route, attempt: Attempt): Promise<Attempt> {
  if (!route.template.startsWith('/sign-in')) return attempt;
  const page = (await client.get<string>('/sign-in')).expect(200).body;
  const token = /name="formToken" value="([^"]+)"/.exec(page)![1]!;
  return { headers: (origin) => ({ ...attempt.headers(origin), 'content-type': FORM }), body: `formToken=${token}&password=short` };
}

const detail = ({ body }: Reply) => String((body as { detail?: unknown } | undefined)?.detail);
const isRefused = (answer: Reply) => REFUSED_PAGE.test(detail(answer)) || REFUSED_FORM.test(detail(answer));
const named = (route: Route) => `${route.method} ${route.template}`;

describe('a call by a session that changes something', () => {
  test('can be one of many', () => {
    expect(routes.length).toBeGreaterThan(40);
    expect(routes.map(named)).toEqual(expect.arrayContaining([
      'POST /api/v1/auth/logout', 'DELETE /api/v1/auth/sessions/{id}', 'POST /api/v1/stops', 'POST /api/v1/hitl/{id}/approve',
    ]));
    expect(routes.some(({ method }) => method === 'GET')).toBe(true);
  });

  test.each(Object.entries(REFUSED))('is refused on each route, and changes nothing: %s', async (_, attempt) => {
    const asked = routes.filter(({ method }) => method !== 'GET' || attempt.body === undefined);
    const before = await storedState(server);
    const answers = await Promise.all(asked.map(async (route) => [named(route), await send(browser, route, attempt)] as const));
    expect(answers.filter(([, answer]) => answer.status !== 403 || !isRefused(answer))
      .map(([route, { status, body }]) => [route, status, body])).toEqual([]);
    expect(await storedState(server)).toEqual(before);
  });

  test.each(Object.entries(LET_IN))('is judged like any other: %s', async (_, attempt) => {
    const viewer = await aPerson(server, 'viewer');
    for (const route of routes) {
      // Some of it takes effect, signing out among it.
      const { withoutOrigin } = await asSession(server, viewer, { age: 1 });
      const answer = await send(withoutOrigin, route, await shown(withoutOrigin, route, attempt));
      const isStopped = answer.status === 401 || REFUSED_PAGE.test(detail(answer));
      expect([named(route), isStopped, answer.status < 500]).toEqual([named(route), false, true]);
    }
  });

  test('by a key comes from wherever it likes: no page can make a browser send one', async () => {
    const client = owner.client.with({ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' });
    (await client.post('/api/v1/users', { email: 'from@evil.example' })).expect(201);
  });
});

test('a call by a session that only reads comes from anywhere, and no page of another site sees the answer', async () => {
  const answer = (await browser.get('/api/v1/users/me', { headers: { origin: 'https://evil.example' } })).expect(200);
  expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  const read = (await browser.get('/api/v1/users/me', { headers: { origin: CONSOLE } })).expect(200);
  const headers = ['access-control-allow-origin', 'access-control-allow-credentials'].map((name) => read.headers.get(name));
  expect(headers).toEqual([CONSOLE, 'true']);
});
