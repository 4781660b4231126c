import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { request } from 'node:http';
import type { Program } from '../support/installed/program.js';
import { startHaproxy, startNginx } from '../support/installed/proxies.js';
import { startServer, type TestServer } from '../support/servers/server.js';
import { ROOT_KEY } from '../support/servers/test-run.js';

let server: TestServer;
let proxies: Program[];
beforeAll(async () => {
  server = await startServer({ ownProcess: true, env: { TRUSTED_PROXIES: '127.0.0.1' } });
  proxies = [await startHaproxy([server.url, server.url]), await startNginx([server.url, server.url])];
});
afterAll(async () => {
  for (const proxy of proxies) await proxy.stop();
  await server.stop();
});

/** As it stands here: `fetch` would put the path right. */
function statusOf(port: number, path: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request({ port, path, headers: { authorization: `Bearer ${ROOT_KEY}`, ...headers } }, (reply) => {
      reply.resume().once('end', () => resolve(reply.statusCode!));
    });
    asked.once('error', reject).end();
  });
}

test.each([
  '/internal/v1/tenants', '/INTERNAL/v1/tenants', '//internal/v1/tenants', '/%69nternal/v1/tenants', '/internal%2fv1/tenants',
])('%s is not there from the outside, whatever key is shown', async (path) => {
  expect(await Promise.all(proxies.map(({ port }) => statusOf(port, path)))).toEqual([404, 404]);
});

test('it is past the proxies, and what is open is there by them', async () => {
  const own = Number(new URL(server.url).port);
  expect(await statusOf(own, '/internal/v1/tenants/none/usage')).not.toBe(401);
  expect(await Promise.all(proxies.map(({ port }) => statusOf(port, '/api/v1/agents')))).toEqual([200, 200]);
});

test('callers cannot say by themselves from where they come', async () => {
  for (const { port } of proxies) await statusOf(port, '/api/v1/agents?by=proxy', { 'x-forwarded-for': '203.0.113.66' });
  expect(server.output()).not.toContain('203.0.113.66');
  expect(server.output()).not.toContain('TRUSTED_PROXIES');
});
