import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous, asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { closeRawConnections, sendRaw } from '../../support/http/raw-http.js';
import { isPublic, pathOf, routesOf } from '../../support/routes/routes.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { ROOT_KEY } from '../../support/servers/test-run.js';

const PAGE = 'https://console.example';

let server: TestServer;
let root: Client;
let agent: BuiltAgent;

beforeAll(async () => {
  server = await startServer({ env: { CORS_ORIGINS: `${PAGE},https://other.example:8443` } });
  root = asRoot(server);
  agent = await anAgent(server).create();
});
afterAll(async () => {
  closeRawConnections();
  await server.stop();
});

describe('headers', () => {
  test('every answer forbids sniffing, framing and storing; none carries an ETag or names its maker', async () => {
    for (const answer of [await root.get('/api/v1/agents'), await anonymous(server).get('/api/v1/agents'),
      await anonymous(server).get('/health'), await root.get('/nothing')]) {
      const { headers } = answer;
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('content-security-policy')).toContain(`default-src 'none'`);
      expect(headers.get('content-security-policy')).toContain(`frame-ancestors 'none'`);
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('strict-transport-security')).toMatch(/max-age=\d{7,}/);
      expect(headers.get('cache-control')).toBe('no-store');
      for (const name of ['etag', 'x-powered-by', 'server', 'last-modified']) expect([name, headers.get(name)])
        .toEqual([name, null]);
    }
  });

  test('a conditional request gets the whole answer', async () => {
    (await root.get('/api/v1/agents',
      { headers: { 'if-none-match': '*', 'if-modified-since': new Date(Date.now() + 1e9).toUTCString() } })).expect(200);
  });

  test('HEAD is GET without a body, credentials and all', async () => {
    const routes = (await routesOf(server)).filter(({ method, access }) => method === 'GET' && access !== 'hitl.timeout' &&
      access !== 'audit.verify');
    for (const route of routes) {
      const target = pathOf(route, { agents: agent.id });
      const headers = ['authorization', `Bearer ${ROOT_KEY}`];
      const [got, head, nobody] = await Promise.all([
        sendRaw(server.url, { target, headers }), sendRaw(server.url, { method: 'HEAD', target, headers }),
        sendRaw(server.url, { method: 'HEAD', target }),
      ]);
      expect([target, head.status, head.body, head.headers['content-type']])
        .toEqual([target, got.status, '', got.headers['content-type']]);
      // Of what is public there may be nothing: without a provider nobody signs in through one.
      expect([target, nobody.status]).toEqual([target, isPublic(route) ? got.status : 401]);
    }
  });
});

describe('CORS', () => {
  const preflight = (origin: string, method = 'POST') =>
    sendRaw(server.url, {
      method: 'OPTIONS', target: '/api/v1/agents',
      headers: ['origin', origin, 'access-control-request-method', method, 'access-control-request-headers',
        'authorization,content-type,idempotency-key'],
    });

  test('a page of ours may call, also by the session of who sees it', async () => {
    const { status, headers } = await preflight(PAGE);
    expect(status).toBe(204);
    expect(headers['access-control-allow-origin']).toBe(PAGE);
    expect(headers['access-control-allow-credentials']).toBe('true');
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) expect(headers['access-control-allow-methods'])
      .toContain(method);
    for (const name of ['authorization', 'content-type', 'idempotency-key', 'x-request-id']) {
      expect(String(headers['access-control-allow-headers']).toLowerCase()).toContain(name);
    }
    const called = await sendRaw(server.url,
      { target: '/api/v1/agents', headers: ['origin', PAGE, 'authorization', `Bearer ${ROOT_KEY}`] });
    expect([called.status, called.headers['access-control-allow-origin']]).toEqual([200, PAGE]);
    expect(String(called.headers['access-control-expose-headers']).toLowerCase()).toContain('x-request-id');
    expect(String(called.headers.vary).toLowerCase()).toContain('origin');
  });

  test('a refusal can be read by a page of ours too', async () => {
    const { status, headers } = await sendRaw(server.url, { target: '/api/v1/agents', headers: ['origin', PAGE] });
    expect([status, headers['access-control-allow-origin']]).toEqual([401, PAGE]);
  });

  test.each(['https://evil.example', 'null', 'http://console.example', `${PAGE}.evil.example`, `${PAGE}:444`,
    'https://CONSOLE.example.', '*', 'https://other.example'])(
    'a page of %s may not', async (origin) => {
      for (const { headers } of [
        await preflight(origin), await sendRaw(server.url,
          { target: '/api/v1/agents', headers: ['origin', origin, 'authorization', `Bearer ${ROOT_KEY}`] }),
      ]) {
        expect([origin, PAGE, undefined]).toContain(headers['access-control-allow-origin']);
        expect(headers['access-control-allow-origin']).not.toBe(origin);
        expect(headers['access-control-allow-origin']).not.toBe('*');
      }
    });

  test('where no origin is configured no page may', async () => {
    const closed = await startServer();
    try {
      for (const method of ['OPTIONS', 'GET']) {
        const { headers } = await sendRaw(closed.url,
          { method, target: '/health', headers: ['origin', PAGE, 'access-control-request-method', 'POST'] });
        expect(Object.keys(headers).filter((name) => name.startsWith('access-control-allow'))).toEqual([]);
      }
    } finally {
      await closed.stop();
    }
  });
});
