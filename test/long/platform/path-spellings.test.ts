import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { closeRawConnections, sendRaw } from '../../support/http/raw-http.js';
import { isPublic, pathOf, routesOf, type Route } from '../../support/routes/routes.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { storedState } from '../../support/log/stored-state.js';

let server: TestServer;
let routes: Route[];
let agent: BuiltAgent;
let other: BuiltAgent;

beforeAll(async () => {
  server = await startServer();
  routes = await routesOf(server);
  [agent, other] = await Promise.all([anAgent(server).create(), anAgent(server).create()]);
});

afterAll(async () => {
  closeRawConnections();
  await server.stop();
});

/** Spellings by which a path slips past checks that look at it as text. */
function variantsOf(path: string): string[] {
  const [, , ...rest] = path.split('/');
  const last = path.lastIndexOf('/');
  const inner = path.slice(1);
  return [
    path, path.toUpperCase(), path.replace('api', 'API'), path.replace('v1', 'V1'), `${path}/`, `${path}//`, `/${path}`,
    `//${path}`,
    path.replace('/v1/', '//v1//'), path.replace('/v1/', '/./v1/./'), path.replace('/v1/', '/x/../v1/'),
    path.replace('/v1/', '/%2e/v1/'),
    path.replace('/v1/', '/x/%2e%2e/v1/'), path.replace('/v1/', '/x/..%2fv1/'), path.replace('/v1/', '/v1%2f'),
    path.replaceAll('/', '%2f'),
    path.replace('/v1/', '/v1;x=1/'), `${path};x=1`, `${path};.js`, `${path}.json`, `${path}.css`, `${path}?`, `${path}??`,
    `${path}?a=/health`,
    `${path}#`, `${path}#/health`, `${path}%23`, `${path}%3f`, `${path}%00`, `${path}%00.css`, `${path}%20`, `${path}%09`,
    `${path}%0a`,
    `${path}%0d%0a`, `${path}/.`, `${path}/%2e`, `${path}/..;/${path.slice(last + 1)}`, `/health/..${path}`,
    `/health/../${inner}`,
    `/health/%2e%2e/${inner}`, `/health/..%2f${inner}`, `/health;/../${inner}`, `/docs/..${path}`, `/docs/assets/../..${path}`,
    `/openapi.json/..${path}`, `/health/..\\${inner}`, path.replaceAll('/', '\\'), path.replace('/v1/', '\\v1\\'),
    `/api%2Fv1/${rest.join('/')}`,
    path.replace('a', '%61'), path.replace('a', '%2561'), path.replace('/v1/', '/v1/%c0%ae%c0%ae/'), `${path}/~`, `${path}*`,
    `${path}%ff`,
    `${path}/%252e%252e/`, path.replace('api', '%EF%BD%81pi'), `http://localhost${path}`, `http://localhost:1/health/..${path}`,
    `@${path}`,
  ];
}

describe('spellings of a path', () => {
  test('none of them opens a guarded route to nobody', async () => {
    const open: string[] = [];
    let tried = 0;
    for (const route of routes.filter((one) => !isPublic(one))) {
      for (const target of variantsOf(pathOf(route, { agents: agent.id }))) {
        for (const method of route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]) {
          const { status } = await sendRaw(server.url, { method, target });
          tried++;
          if (status < 300 || status >= 500) open.push(`${method} ${target}: ${status}`);
        }
      }
    }
    expect(open).toEqual([]);
    expect(tried).toBeGreaterThan(routes.length * 40);
  });

  test('none of them lets an agent do what it may not', async () => {
    const before = await storedState(server);
    const open: string[] = [];
    for (const [method, path] of [
      ['PATCH', `/api/v1/agents/${agent.id}`], ['POST', `/api/v1/agents/${agent.id}/capabilities`],
      ['DELETE', `/api/v1/agents/${other.id}`],
      ['POST', `/api/v1/agents/${agent.id}/token`], ['GET', '/api/v1/audit'], ['GET', '/api/v1/hitl/check-timeouts'],
    ] as const) {
      for (const target of variantsOf(path)) {
        const body = method === 'GET' ? {} : { body: JSON.stringify({ capability: 'file.delete', hitlMode: 'auto', name: 'x' }) };
        const headers = ['authorization', `Bearer ${agent.token}`, 'content-type', 'application/json'];
        const { status } = await sendRaw(server.url, { method, target, headers, ...body });
        if (status < 300 || status >= 500) open.push(`${method} ${target}: ${status}`);
      }
    }
    expect(open).toEqual([]);
    expect(await storedState(server)).toEqual(before);
  });

  test('other methods reach nothing', async () => {
    for (const method of ['TRACE', 'CONNECT', 'PROPFIND', 'OPTIONS', 'PUT', 'LINK'].filter((one) => one !== 'CONNECT')) {
      const { status, body } = await sendRaw(server.url, { method, target: '/api/v1/agents' });
      expect([method, status >= 400 || body === '' || !body.includes('{')]).toEqual([method, true]);
      expect([method, status < 500]).toEqual([method, true]);
    }
  });
});
