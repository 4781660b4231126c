import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SealedBox } from '../../../src/platform/secrets/sealed-box.js';
import { anonymous, type Client, type Reply } from '../../support/http/actors.js';
import { goodBody } from '../../support/routes/bad-bodies.js';
import { inParallel } from '../../support/proofs/in-lanes.js';
import { aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { done } from '../../support/proofs/races.js';
import { times } from '../../support/running/whole-form.js';
import { callRoute, changesSomething, FORM_TYPE as FORM, isPublic, pathOf, type Route, routesOf } from '../../support/routes/routes.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { asSession, originOf, submits } from '../../support/builders/tenants.js';
import { type StoredState, storedState } from '../../support/log/stored-state.js';
import { TEST_ENVIRONMENT } from '../../support/servers/test-run.js';

// Whatever a page of another site can make a browser send along with somebody's cookie × every route that changes something.
// Which those are the running server says itself.

const CONSOLE = 'https://console.example';
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
  routes = (await routesOf(server)).filter((route) => !isPublic(route) && changesSomething(route));
});
afterAll(() => server.stop());

/** Calls under way at once: more would only wait for each other. */
const LANES = 16;

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

/** One guard looks at the pages of all routes: what else there is is tried on a part of the routes each. */
const EVERYWHERE = ['no origin', 'the origin of another site', 'our origin, and a form with the token of another session'];
const EACH_AT = times(8, 1);

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
  return callRoute(client, route, path, json, route.method === 'GET' ? { headers: headers(ours) } : options);
}

/** Of a problem, or the message of a vendor's error. */
const detail = ({ body }: Reply) => {
  const { detail: said, error } = (body ?? {}) as { detail?: unknown; error?: { message?: unknown } };
  return String(said ?? error?.message);
};
const isRefused = (answer: Reply) => REFUSED_PAGE.test(detail(answer)) || REFUSED_FORM.test(detail(answer));
/** Of the routes, those that did not refuse it, and what they answered. */
async function letInBy(client: Client, asked: readonly Route[], attempt: Attempt): Promise<unknown[]> {
  const answers = await inParallel(LANES, asked, async (route) => [route, await done(() => send(client, route, attempt))] as const);
  return answers.filter(([, answer]) => answer.status !== 403 || !isRefused(answer))
    .map(([route, { status, body }]) => [named(route), status, body]);
}

const named = (route: Route) => `${route.method} ${route.template}`;

describe('a call by a session that changes something', () => {
  test('can be one of many', () => {
    expect(routes.length).toBeGreaterThan(40);
    expect(routes.map(named)).toEqual(expect.arrayContaining([
      'POST /api/v1/auth/logout', 'DELETE /api/v1/auth/sessions/{id}', 'POST /api/v1/stops', 'POST /api/v1/hitl/{id}/approve',
    ]));
    expect(routes.filter(({ takesForm }) => takesForm).map(named)).toEqual(expect.arrayContaining([
      'POST /sign-in/sign-out', 'POST /sign-in/sessions/{id}/end', 'POST /sign-in/passkeys/{id}/remove', 'POST /sign-in/password',
    ]));
    expect(routes.some(({ method }) => method === 'GET')).toBe(true);
  });

  /** Of one attempt after the other, as long as nothing is changed. */
  let before: StoredState | undefined;
  const attempts = Object.entries(REFUSED).map(([name, attempt], n) => [name, attempt, n] as const);
  test.each(attempts)('is refused on each route, and changes nothing: %s', async (name, attempt, n) => {
    const asked = routes.filter(({ method }) => method !== 'GET' || attempt.body === undefined)
      .filter((_, m) => EVERYWHERE.includes(name) || (n + m) % EACH_AT === 0);
    expect(asked.length).toBeGreaterThan(10);
    before ??= await storedState(server);
    expect(await letInBy(browser, asked, attempt)).toEqual([]);
    expect(await storedState(server)).toEqual(before);
  });

  const letIn = Object.entries(LET_IN).map(([name, attempt], n) => [name, attempt, n] as const);
  test.each(letIn)('is judged like any other: %s', async (_, attempt, n) => {
    const viewer = await aPerson(server, 'viewer');
    for (const route of routes.filter((_route, m) => n === 0 || (n + m) % EACH_AT === 0)) {
      // Some of it takes effect, signing out among it.
      const { withoutOrigin } = await asSession(server, viewer, { age: 1 });
      const answer = route.takesForm
        ? await submits(withoutOrigin.with(attempt.headers(ours)), pathOf(route))
        : await send(withoutOrigin, route, attempt);
      const isStopped = answer.status === 401 || isRefused(answer);
      expect([named(route), isStopped, answer.status < 500]).toEqual([named(route), false, true]);
    }
  });

  test('by a key comes from wherever it likes: no page can make a browser send one', async () => {
    const client = owner.client.with({ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' });
    (await client.post('/api/v1/users', { email: 'from@evil.example' })).expect(201);
  });
});

describe('a call that lets somebody in', () => {
  // These are no browser's: a node shows its setup token, the provider a logout token that it has signed, Slack signs what it sends.
  const OF_MACHINES = [
    'POST /api/v1/node/activate', 'POST /api/v1/auth/backchannel-logout', 'POST /api/v1/notifications/callbacks/slack',
  ];

  test.each(['no origin', 'the origin null', 'the origin of another site', 'a sibling port on our host', 'a page of the same site'])(
    'comes from a page of ours too: not with %s', async (attempt) => {
      const open = (await routesOf(server)).filter((route) => isPublic(route) && changesSomething(route));
      const asked = open.filter((route) => !OF_MACHINES.includes(named(route)));
      expect(asked.map(named)).toEqual(expect.arrayContaining([
        'POST /sign-in', 'POST /invitations/{token}', 'POST /api/v1/auth/passkey', 'POST /api/v1/auth/invitations/{token}/passkey',
        'POST /hitl/{id}/approve', 'POST /hitl/{id}/reject',
      ]));
      expect(open.length - asked.length).toBe(OF_MACHINES.length);
      const before = await storedState(server);
      expect(await letInBy(anonymous(server), asked, REFUSED[attempt]!)).toEqual([]);
      expect(await storedState(server)).toEqual(before);
    },
  );
});

test('a call by a session that only reads comes from anywhere, and no page of another site sees the answer', async () => {
  const answer = (await browser.get('/api/v1/users/me', { headers: { origin: 'https://evil.example' } })).expect(200);
  expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  const read = (await browser.get('/api/v1/users/me', { headers: { origin: CONSOLE } })).expect(200);
  const headers = ['access-control-allow-origin', 'access-control-allow-credentials'].map((name) => read.headers.get(name));
  expect(headers).toEqual([CONSOLE, 'true']);
});
