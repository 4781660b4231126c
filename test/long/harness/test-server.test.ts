import { afterEach, expect, test } from '@jest/globals';
import { anonymous, asRoot } from '../../support/http/actors.js';
import { anAgent } from '../../support/builders/agents.js';
import { auditOf } from '../../support/log/entries.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const servers: TestServer[] = [];

async function started(...options: Parameters<typeof startServer>): Promise<TestServer> {
  const server = await startServer(...options);
  servers.push(server);
  return server;
}

afterEach(async () => {
  // Replicas before the server whose database they share.
  for (const server of servers.splice(0).reverse()) await server.stop();
});

test('each server has a database of its own', async () => {
  const [one, other] = await Promise.all([started(), started()]);
  const agent = await anAgent(one).named('only here').granted('web.search').create();
  (await asRoot(one).get(`/api/v1/agents/${agent.id}`)).expect(200);
  (await asRoot(other).get(`/api/v1/agents/${agent.id}`)).expect(404, 'NOT_FOUND');
  expect((await auditOf(one, agent.id)).map(({ event }) => event)).toContain('agent.registered');
});

test('a killed server comes back on its database and its address', async () => {
  const server = await started();
  const agent = await anAgent(server).create();
  const { url, pid } = server;
  await server.kill();
  await expect(anonymous(server).get('/health')).rejects.toThrow('fetch failed');
  await server.restart();
  expect(server.url).toBe(url);
  expect(server.pid).not.toBe(pid);
  (await asRoot(server).get(`/api/v1/agents/${agent.id}`)).expect(200);
});

test('two replicas share a database', async () => {
  const first = await started();
  const second = await started({ replicaOf: first });
  const agent = await anAgent(first).create();
  (await asRoot(second).get(`/api/v1/agents/${agent.id}`)).expect(200);
});

test('a process that has run a server runs the next one, which has its own address, database and output', async () => {
  const first = await startServer();
  const agent = await anAgent(first).create();
  const { pid, url } = first;
  expect(first.output()).toContain(url);
  await first.stop();
  await expect(anonymous(first).get('/health')).rejects.toThrow('fetch failed');
  const next = await started();
  expect(next.pid).toBe(pid);
  (await asRoot(next).get(`/api/v1/agents/${agent.id}`)).expect(404, 'NOT_FOUND');
  expect(next.output()).toContain(next.url);
  expect(next.output()).not.toContain(url);
});

test('a process of its own has run no other server, and exits', async () => {
  const before = await startServer();
  const { pid } = before;
  await before.stop();
  const own = await startServer({ ownProcess: true });
  expect(own.pid).not.toBe(pid);
  await own.stop();
  expect(() => process.kill(own.pid, 0)).toThrow('ESRCH');
});

test('a server that goes away by itself fails the test with its own last words', async () => {
  const server = await startServer();
  process.kill(server.pid, 'SIGKILL');
  await expect(until(() => anonymous(server).get('/health'))).rejects.toThrow('the server ended by SIGKILL');
  await expect(server.stop()).rejects.toThrow('the server ended by SIGKILL');
});

test('a server that cannot start says why', async () => {
  await expect(startServer({ env: { JWT_SECRET: 'short' } })).rejects.toThrow('JWT_SECRET');
});

// The kernel may take a moment to end a process; a call that still got through proves nothing.
async function until(call: () => Promise<unknown>): Promise<never> {
  for (;;) await call();
}
