import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ACCESS, reachOf, type AccessKey } from '../../../src/domain/access/access.js';
import { anonymous, as, asRoot, type Reply } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { closeRawConnections, sendRaw } from '../../support/http/raw-http.js';
import { callRoute, isPublic, pathOf, routesOf, type Route } from '../../support/routes/routes.js';
import { partOf } from '../../support/running/whole-form.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { storedState } from '../../support/log/stored-state.js';
import { ROOT_KEY } from '../../support/servers/test-run.js';

const WRONG_KEY = `svc_root_${'0'.repeat(64)}`;

const NODE_ROUTES = [
  '/api/v1/node/heartbeat', '/api/v1/node/tasks/lease', '/api/v1/node/tasks/{executionId}/result', '/api/v1/node/tasks/{executionId}/start',
];

let server: TestServer;
let routes: Route[];
let agent: BuiltAgent;
let other: BuiltAgent;
let deactivated: BuiltAgent;
let revoked: BuiltAgent;

beforeAll(async () => {
  server = await startServer();
  routes = await routesOf(server);
  [agent, other, deactivated, revoked] = await Promise.all([
    anAgent(server).granted('web.search').create(),
    anAgent(server).granted('web.search').create(),
    anAgent(server).granted('web.search').create(),
    anAgent(server).granted('web.search').create(),
  ]);
  (await asRoot(server).post(`/api/v1/agents/${deactivated.id}/deactivate`)).expect(200);
  (await asRoot(server).delete(`/api/v1/agents/${revoked.id}/tokens`)).expect(204);
});

afterAll(async () => {
  closeRawConnections();
  await server.stop();
});

/** Of a problem, or of a vendor's error. */
const code = ({ body }: Reply) => {
  const { code: own, error } = (body ?? {}) as { code?: string; error?: { code?: string } };
  return own ?? error?.code;
};

// What each of them is answered on each route: test/contract/http/permission-matrix.test.ts.
describe('the routes', () => {
  test('every route names a key of the access table', () => {
    expect(routes.length).toBeGreaterThan(40);
    expect(routes.filter(({ access }) => !(access in ACCESS))).toEqual([]);
  });

  test('public are health, what proves the log to anybody, ways of coming in, and what checks a credential of its own', () => {
    expect(routes.filter(isPublic).map(({ method, template }) => `${method} ${template}`).sort()).toEqual([
      'GET /', 'GET /account', 'GET /api/v1/audit/checkpoints', 'GET /api/v1/audit/keys', 'GET /api/v1/audit/verifier',
      'GET /api/v1/auth/callback', 'GET /api/v1/auth/login', 'GET /chat-accounts/link',
      'GET /health', 'GET /health/live', 'GET /health/ready', 'GET /hitl/{id}/approve', 'GET /hitl/{id}/reject',
      'GET /invitations/{token}', 'GET /sign-in', 'GET /version',
      'POST /api/v1/auth/backchannel-logout', 'POST /api/v1/auth/invitations/{token}/passkey',
      'POST /api/v1/auth/invitations/{token}/passkey/options', 'POST /api/v1/auth/passkey', 'POST /api/v1/auth/passkey/options',
      'POST /api/v1/node/activate', 'POST /api/v1/notifications/callbacks/slack', 'POST /hitl/{id}/approve', 'POST /hitl/{id}/reject',
      'POST /invitations/{token}', 'POST /sign-in',
    ]);
  });

  test('root is denied what is an agent\'s alone, or of a person\'s own account, and nothing else', () => {
    const denied = routes.filter(({ access }) => reachOf(access as AccessKey, 'root') === 'denied');
    const others = denied.filter(({ access }) => !/^(?:sign-in|chat-accounts|inbox)\..*-self$/.test(access));
    expect(others.map(({ template }) => template).sort()).toEqual(
      ['/api/v1/agents/token', '/api/v1/agents/{id}/token/refresh', ...NODE_ROUTES, '/api/v1/users/me']);
    expect(denied.length - others.length).toBe(17);
  });

  // The interface's rules in their own words, so that a slip in the table is not a slip here too.
  test('an agent may read the catalogue and its own, act, delegate, work, cancel, report, refresh and exchange: no more', () => {
    const allowed = routes.filter(({ access }) => reachOf(access as AccessKey, 'agent') !== 'denied' && access !== 'public');
    expect(allowed.map(({ method, template }) => `${method} ${template}`).sort()).toEqual([
      'GET /api/v1/agents',
      'GET /api/v1/agents/{id}',
      'GET /api/v1/agents/{id}/capabilities',
      'GET /api/v1/agents/{id}/keys',
      'GET /api/v1/auth/me',
      'GET /api/v1/capabilities',
      'GET /api/v1/capabilities/grants',
      'GET /api/v1/executions',
      'GET /api/v1/executions/{id}',
      'GET /api/v1/hitl',
      'GET /api/v1/hitl/events',
      'GET /api/v1/hitl/{id}',
      'GET /api/v1/llm/models',
      'GET /api/v1/llm/usage',
      'GET /api/v1/llm/v1/models',
      'GET /api/v1/tasks',
      'GET /api/v1/tasks/{id}',
      'POST /api/v1/agents/token',
      'POST /api/v1/agents/{id}/token/refresh',
      'POST /api/v1/execute',
      'POST /api/v1/executions',
      'POST /api/v1/executions/{id}/cancel',
      'POST /api/v1/executions/{id}/report',
      'POST /api/v1/hitl',
      'POST /api/v1/hitl/{id}/cancel',
      'POST /api/v1/llm/chat',
      'POST /api/v1/llm/chat/completions',
      'POST /api/v1/llm/messages',
      'POST /api/v1/llm/scan',
      'POST /api/v1/llm/v1/messages',
      'POST /api/v1/llm/v1/messages/count_tokens',
      ...NODE_ROUTES.map((template) => `POST ${template}`),
      'POST /api/v1/routing/delegate',
      'POST /api/v1/routing/resolve',
      'POST /api/v1/tasks/{id}/cancel',
    ]);
  });

  test('who calls is judged before what is sent', async () => {
    const wrong: string[] = [];
    for (const [n, route] of routes.filter((one) => !isPublic(one) && one.takesBody).entries()) {
      for (const [who, client, status] of [
        ['nobody', anonymous(server), 401], ['a wrong key', as(server, WRONG_KEY), 401], ['a dead epoch', revoked.client, 401],
        ['a deactivated agent', deactivated.client, 403],
      ] as const) {
        for (const raw of partOf(['{"broken', JSON.stringify({ padding: 'x'.repeat(300_000) })], 2, n)) {
          const answer = await callRoute(client, route, pathOf(route), undefined, { raw });
          if (answer.status === status) continue;
          wrong.push(`${route.method} ${route.template} as ${who}: ${answer.status} ${code(answer)}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe('an agent among others', () => {
  test('another agent\'s things are not there for it', async () => {
    for (const path of [`/api/v1/agents/${other.id}`, `/api/v1/agents/${other.id}/capabilities`]) {
      (await agent.client.get(path)).expect(404, 'NOT_FOUND');
    }
    (await agent.client.post(`/api/v1/agents/${other.id}/token/refresh`)).expect(404, 'NOT_FOUND');
    const theirs = (await other.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200).text('executionId');
    (await agent.client.get(`/api/v1/executions/${theirs}`)).expect(404, 'NOT_FOUND');
    (await agent.client.post(`/api/v1/executions/${theirs}/report`, { outcome: 'success' })).expect(404, 'NOT_FOUND');
    (await agent.client.post(`/api/v1/executions/${theirs}/cancel`)).expect(404, 'NOT_FOUND');
  });

  test('its lists are its own, the total too', async () => {
    const newcomer = await anAgent(server).granted('file.read').create();
    const agents = (await newcomer.client.get('/api/v1/agents')).expect(200);
    expect(agents.number('total')).toBe(1);
    expect(agents.text('agents.0.id')).toBe(newcomer.id);
    const grants = (await newcomer.client.get('/api/v1/capabilities/grants', { query: { agentId: other.id } })).expect(200);
    expect(grants.body).toEqual({ grants: [], total: 0 });
    (await other.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200);
    for (const path of ['/api/v1/executions', `/api/v1/executions?agentId=${other.id}`]) {
      expect((await newcomer.client.get(path)).expect(200).body).toEqual({ executions: [], total: 0 });
    }
    (await newcomer.client.post('/api/v1/execute', { capability: 'file.read' })).expect(200);
    expect((await newcomer.client.get('/api/v1/executions')).expect(200).number('total')).toBe(1);
  });

  test('it cannot act for another one', async () => {
    for (const path of ['/api/v1/execute', '/api/v1/executions', '/api/v1/hitl']) {
      (await agent.client.post(path, { capability: 'web.search', agentId: other.id })).expect(403, 'FORBIDDEN');
      (await agent.client.post(path, { capability: 'web.search', agent_id: other.id })).expect(403, 'FORBIDDEN');
    }
  });
});

describe('credentials', () => {
  const target = '/api/v1/agents';
  const bearer = (text: string) => ['authorization', `Bearer ${text}`];
  const apiKey = (text: string) => ['x-api-key', text];
  const status = async (...headers: string[][]) => (await sendRaw(server.url, { target, headers: headers.flat() })).status;

  test('the root key may come by either header, or by both', async () => {
    expect(await status(bearer(ROOT_KEY))).toBe(200);
    expect(await status(apiKey(ROOT_KEY))).toBe(200);
    expect(await status(bearer(ROOT_KEY), apiKey(ROOT_KEY))).toBe(200);
    expect(await status(['Authorization', `bearer ${ROOT_KEY}`])).toBe(200);
  });

  test('x-api-key carries the root key only', async () => {
    expect(await status(apiKey(agent.token))).toBe(401);
    expect(await status(apiKey(''))).toBe(401);
    expect(await status(apiKey(WRONG_KEY))).toBe(401);
    expect(await status(apiKey(`Bearer ${ROOT_KEY}`))).toBe(401);
  });

  test('two credentials that name different principals are none, in whatever pair', async () => {
    const texts = [ROOT_KEY, WRONG_KEY, agent.token, other.token, deactivated.token, 'nonsense'];
    for (const first of texts) {
      for (const second of texts) {
        if (first === second && first === ROOT_KEY) continue;
        expect([first.slice(0, 12), second.slice(0, 12), await status(bearer(first), apiKey(second))]).toEqual([
          first.slice(0, 12), second.slice(0, 12), 401,
        ]);
      }
    }
  });

  test('a credential header that is sent twice is refused, even with one and the same value', async () => {
    expect(await status(bearer(ROOT_KEY), bearer(ROOT_KEY))).toBe(401);
    expect(await status(bearer(ROOT_KEY), bearer(agent.token))).toBe(401);
    expect(await status(bearer(agent.token), bearer(agent.token))).toBe(401);
    expect(await status(apiKey(ROOT_KEY), apiKey(ROOT_KEY))).toBe(401);
    expect(await status(apiKey(ROOT_KEY), apiKey(WRONG_KEY))).toBe(401);
    expect(await status(bearer(agent.token), ['AUTHORIZATION', `Bearer ${agent.token}`])).toBe(401);
  });

  test.each([
    'Basic cm9vdDpyb290', `Token ${ROOT_KEY}`, ROOT_KEY, 'Bearer', 'Bearer ', `Bearer  ${ROOT_KEY}`, `Bearer ${ROOT_KEY} x`,
    `Bearer ${ROOT_KEY},Bearer ${ROOT_KEY}`, `Bearer "${ROOT_KEY}"`, `Bearer ${ROOT_KEY.toUpperCase()}`,
    `Bearer ${ROOT_KEY.slice(0, -1)}`,
    `Bearer ${ROOT_KEY}0`, `Bearer svc_user_${'a'.repeat(64)}`, `Bearer svc_root_${'g'.repeat(64)}`, 'Bearer null',
    'Bearer undefined',
    `Bearer ${'x'.repeat(9_000)}`, "Bearer ' or 1=1 --", 'Bearer ../../etc/passwd', 'Bearer {{7*7}}', 'Bearer $(id)',
  ])('Authorization: %.40s is refused', async (value) => {
    expect(await status(['authorization', value])).toBe(401);
  });

  test('a refusal names the scheme, and neither credential nor reason helps to guess', async () => {
    const answer = (await as(server, WRONG_KEY).get(target)).expect(401, 'UNAUTHENTICATED');
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect(JSON.stringify(answer.body)).not.toContain(WRONG_KEY);
  });

  test('credentials elsewhere than in their headers count for nothing', async () => {
    for (const query of [`?access_token=${ROOT_KEY}`, `?x-api-key=${ROOT_KEY}`, `?authorization=Bearer%20${ROOT_KEY}`]) {
      expect((await sendRaw(server.url, { target: `${target}${query}` })).status).toBe(401);
    }
    expect(await status(['cookie', `authorization=Bearer ${ROOT_KEY}; token=${ROOT_KEY}`])).toBe(401);
    expect(await status(['proxy-authorization', `Bearer ${ROOT_KEY}`])).toBe(401);
    expect(await status(['x-forwarded-authorization', `Bearer ${ROOT_KEY}`], ['x-forwarded-for', '127.0.0.1'])).toBe(401);
  });

  test('a method in a header or a parameter is not the method', async () => {
    const before = await storedState(server);
    const headers = [...bearer(agent.token), 'x-http-method-override', 'DELETE', 'x-method-override', 'DELETE'];
    await sendRaw(server.url, { target: `/api/v1/agents/${agent.id}?_method=DELETE`, headers });
    expect(await storedState(server)).toEqual(before);
    expect((await agent.client.get(`/api/v1/agents/${agent.id}`)).expect(200).text('agent.status')).toBe('active');
  });
});

describe('what is recorded of authentication', () => {
  test('root\'s changing calls each, failures as a bounded count, no credential of any of them', async () => {
    (await asRoot(server).post('/api/v1/agents', {})).expect(400);
    const entries = await server.sql<{ event: string; payload: string; disclosures: string; actor_id: string }>(
      `select event, payload, disclosures, actor_id from audit_entries where organization_id = 'org_platform'`,
    );
    const failed = entries.filter(({ event }) => event === 'auth.failed');
    expect(failed.length).toBeGreaterThanOrEqual(1);
    expect(failed.length).toBeLessThan(20);
    expect(new Set(failed.map(({ actor_id }) => actor_id))).toEqual(new Set(['anonymous']));
    expect(entries.some(({ event, disclosures }) => event === 'auth.root_key_used' && disclosures.includes('/api/v1/agents')))
      .toBe(true);
    const text = JSON.stringify(entries) + server.output();
    for (const secret of [ROOT_KEY, WRONG_KEY, agent.token, agent.token.split('.')[2] ?? '']) expect(text).not.toContain(secret);
  });
});
