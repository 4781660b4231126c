import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { goodBody } from '../../support/routes/bad-bodies.js';
import { anAgent, anAgentKey, type BuiltAgent, type BuiltAgentKey } from '../../support/builders/agents.js';
import { closeRawConnections, sendRaw } from '../../support/http/raw-http.js';
import { aPerson, aTeam, type BuiltPerson } from '../../support/builders/people.js';
import { isOfVendors, isForBrowsers, pathOf, routesOf, type Route } from '../../support/routes/routes.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { storedState, type StoredState } from '../../support/log/stored-state.js';
import { byTheStrongest, isOfPages } from '../../support/routes/strongest-caller.js';

let server: TestServer;
let root: Client;
let agent: BuiltAgent;
let agentKey: BuiltAgentKey;
let owner: BuiltPerson;
let routes: Route[];
let ids: Record<string, string>;
let before: StoredState;

// Everything that a path can name exists, so that what keeps a bad call from acting is its badness alone.
beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
  agent = await anAgent(server).granted('web.search').granted('email.send',
    { hitlMode: 'propose' }).granted('file.delete').create();
  const ran = (await agent.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200);
  const asked = (await agent.client.post('/api/v1/execute', { capability: 'email.send' })).expect(202);
  const grant = (await root.get(`/api/v1/agents/${agent.id}/capabilities`)).expect(200);
  (await root.post('/api/v1/capabilities', { name: 'own.one', description: 'mine' })).expect(201);
  const user = (await root.post('/api/v1/users', { email: 'ada@example.test' })).expect(201);
  const key = (await root.post(`/api/v1/users/${user.text('user.id')}/keys`, { name: 'hers' })).expect(201);
  const person = await aPerson(server, 'viewer');
  owner = await aPerson(server, 'owner');
  agentKey = await anAgentKey(server, agent);
  ids = {
    teams: await aTeam(server, person.organizationId, [{ userId: person.id }]), userId: person.id,
    organizations: user.text('user.organizationId'), users: user.text('user.id'), keyId: key.text('key.id'), agentKeyId: agentKey.id,
    agents: agent.id, executions: ran.text('executionId'), hitl: asked.text('hitlRequestId'), grant: grant.text('grants.0.id'),
    audit: ran.text('auditId'),
    name: 'own.one', capability: 'web.search',
  };
  // Vendors' clients send parameters of their own, and `wait` with every call.
  routes = (await routesOf(server)).filter((route) => !isOfVendors(route));
});

beforeEach(async () => {
  before = await storedState(server);
});

afterAll(async () => {
  closeRawConnections();
  await server.stop();
});

interface Sent {
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly type?: string;
  readonly headers?: readonly string[];
  readonly query?: string;
  readonly path?: string;
}

interface Refusal {
  readonly status: number;
  readonly code?: string;
  readonly pointers: readonly string[];
}

/** The name in the path is the caller's own choice, and a name that is none is 400: its tests try these. */
const isNamedByCaller = ({ template }: Route) => template === '/api/v1/secrets/{secret}';

const callerOf = (route: Route): string[] => byTheStrongest(route,
  { server, agentToken: agent.token, agentKey: agentKey.secret, ownerKey: owner.key });

/** Sends it as the strongest caller whom the route admits. Whatever is refused must be refused as a problem. */
async function send(route: Route,
  { body, type = 'application/json', headers = [], query = '', path = pathOf(route, ids) }: Sent): Promise<Refusal> {
  const contentType = body === undefined || type === '' ? [] : ['content-type', type];
  const { status, headers: answered, body: text } = await sendRaw(server.url, {
    method: route.method, target: `${path}${query}`,
    headers: [...callerOf(route), ...contentType, ...headers], body,
  });
  if (status < 400) return { status, pointers: [] };
  const problem = /^application\/problem\+json/.test(answered['content-type'] ?? '')
    ? (JSON.parse(text) as { code: string; status: number; errors?: { pointer: string; message: string }[] })
    : undefined;
  if (problem?.status !== status) return { status, code: `no problem: ${text.slice(0, 100)}`, pointers: [] };
  return { status, code: problem.code,
    pointers: (problem.errors ?? []).map(({ pointer, message }) => (message === '' ? 'no message' : pointer)) };
}

const named = ({ method, template }: Route) => `${method} ${template}`;
const wrongly = (route: Route, what: string,
  { status, code, pointers }: Refusal) => `${named(route)}, ${what}: ${status} ${code ?? ''} ${pointers.join(' ')}`;

describe('on every route with parameters', () => {
  test('each of its query parameters that cannot be is 400 at its place', async () => {
    const wrong: string[] = [];
    for (const route of routes.filter(({ method }) => method === 'GET')) {
      for (const [name, schema] of Object.entries(route.query)) {
        for (const text of badTexts(name, schema)) {
          const answer = await send(route, { query: `?${name}=${text}` });
          if (answer.status !== 400 || answer.pointers.join() !== `?${name}`) wrong.push(wrongly(route,
            `?${name}=${text.slice(0, 40)}`, answer));
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  function badTexts(name: string, { type, enum: words, maxLength }: Route['query'][string]): string[] {
    const all = ['%00', 'a%00b'];
    if (type === 'integer') return [...all, '', 'x', '1.5', '-1', '1e3', '0x1', '%2B1', '10000000', '1%20', 'NaN', 'null',
      '%EF%BC%91'];
    if (words !== undefined) return [...all, '', 'none', `${words[0] ?? ''}%20`, (words[0] ?? '').toUpperCase(), '[]',
      words.join(',')];
    const times = name === 'from' || name === 'to' || name === 'dueBefore';
    if (times) return [...all, '', 'x', '2026', '2026-13-01', '2026-02-30', '2026-02-30T00:00:00Z', '2026-01-01T00:00:00', '1e9',
      '-000001-01-01T00:00:00Z', '2026-01-01T99:00:00Z'];
    return [...all, 'x'.repeat((maxLength ?? 1_000) + 1)];
  }

  test('a query that cannot be read harms nothing', async () => {
    const wrong: string[] = [];
    // The log may be verified once a minute, which the last test wants to do.
    for (const route of routes.filter(({ method, access }) => method === 'GET' && access !== 'audit.verify')) {
      for (const query of ['?%', '?%ff=1', '?a=%ff', '?a=%ed%a0%80', '?__proto__=1', '?__proto__[x]=1', '?constructor=1',
        '?a[b][c]=1', `?${'a=1&'.repeat(500)}`, `?${'x'.repeat(8_000)}`]) {
        const answer = await send(route, { query });
        const fine = isForBrowsers(route) ? answer.status < 500 : answer.status === 400;
        if (!fine) wrong.push(wrongly(route, query.slice(0, 30), answer));
      }
    }
    expect(wrong).toEqual([]);
  });

  test('an id that cannot be is 404, or 400 where it is no UTF-8; nothing else', async () => {
    const wrong: string[] = [];
    const texts = [
      'x', '0', '-1', '%00', 'a%00', '%0a', '%20', 'null', 'undefined', '%7B%7D', '[object%20Object]', 'x'.repeat(5_000),
      '%F0%9F%98%80', '%e2%80%ae', "'%20or%201=1--",
      '%25', '%2525', 'agt_', 'agt_%00', 'hitl_x', '__proto__', 'constructor', '%ff', '%c0%ae', '%ed%a0%80', '%', '%zz', '*', '~',
      '!', '$1', '%5c', '..%5c..', '%2f', 'a%2fb',
    ];
    for (const route of routes.filter((one) => one.parameters.length > 0 && !one.takesForm && !isNamedByCaller(one))) {
      for (const parameter of route.parameters) {
        for (const text of texts) {
          const marked = pathOf({ ...route, template: route.template.replace(`{${parameter}}`, '\u0001') }, ids).replace('\u0001',
            text);
          const body = route.takesBody || isOfPages(route) ? JSON.stringify(goodBody(route, { agentId: agent.id })) : undefined;
          const answer = await send(route, { path: marked, body });
          const wanted = /%(ff|c0|ed|zz|$)/.test(text) ? [400, 404] : [404];
          if (!wanted.includes(answer.status)) wrong.push(wrongly(route, text.slice(0, 30), answer));
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(await storedState(server)).toEqual(before);
  });
});
