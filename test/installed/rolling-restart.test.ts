import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { anAgent } from '../support/builders/agents.js';
import { anonymous, asRoot } from '../support/http/actors.js';
import { EXECUTE } from '../support/http/paths.js';
import { startHaproxy, startNginx } from '../support/installed/proxies.js';
import type { Program } from '../support/installed/program.js';
import { eventually } from '../support/running/eventually.js';
import { startServer, type TestServer } from '../support/servers/server.js';

/** A call every 100 ms through each proxy. */
const EVERY_MS = 100;

let servers: TestServer[];
let proxies: Program[];
let key: string;

beforeAll(async () => {
  // The delay is the default of a server with a database of its own, which tests otherwise go without.
  const env = { SHUTDOWN_DELAY: '5s' };
  const first = await startServer({ ownProcess: true, env });
  servers = [first, await startServer({ ownProcess: true, replicaOf: first, env })];
  const urls = servers.map(({ url }) => url);
  // The third shows what the servers do for it: nothing is sent again.
  proxies = [await startHaproxy(urls), await startNginx(urls), await startHaproxy(urls, 'never')];
  key = await agentKey();
});
afterAll(async () => {
  for (const proxy of proxies) await proxy.stop();
  for (const server of servers.toReversed()) await server.stop();
});

/** What became of calls that somebody makes all the time, by status or by what broke. */
interface Load {
  readonly answers: Map<string, number>;
  readonly broken: string[];
  end(): Promise<void>;
}

function callThrough({ port }: Program, key: string): Load {
  const load = { answers: new Map<string, number>(), broken: [] as string[] };
  const running = new Set<Promise<void>>();
  const call = async () => {
    try {
      const reply = await fetch(`http://127.0.0.1:${port}${EXECUTE}`, {
        method: 'POST', headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ capability: 'web.search', input: { q: 1 } }),
      });
      const body = await reply.text();
      load.answers.set(String(reply.status), (load.answers.get(String(reply.status)) ?? 0) + 1);
      if (reply.status !== 200) load.broken.push(`${reply.status} ${body.slice(0, 300)}`);
    } catch (error) {
      load.broken.push(String((error as Error).cause ?? error));
    }
  };
  const timer = setInterval(() => {
    const one: Promise<void> = call().finally(() => running.delete(one));
    running.add(one);
  }, EVERY_MS);
  return {
    ...load,
    end: async () => {
      clearInterval(timer);
      await Promise.all(running);
    },
  };
}

test.each([0, 1])('a server is replaced behind HAProxy and nginx, as their samples stand: no call fails (server %d)', async (replaced) => {
  const before = await executions();
  const loads = proxies.map((proxy) => callThrough(proxy, key));
  try {
    await pause(1_000);
    await servers[replaced]!.restart();
    // The next one goes when this one is back and known to be.
    await pause(2_000);
    await Promise.all(loads.map((load) => load.end()));
    expect(loads.map(({ broken }) => broken)).toEqual(loads.map(() => []));
    for (const { answers } of loads) expect(answers.get('200')).toBeGreaterThan(40);
    // Each was answered because it was done: nothing was done twice, either.
    const done = loads.reduce((sum, { answers }) => sum + answers.get('200')!, 0);
    expect(await executions() - before).toBe(done);
  } finally {
    await Promise.all(loads.map((load) => load.end()));
  }
});

test('asked to end, a server is not ready first and serves on, keeps no connection, and then takes none', async () => {
  const [server] = servers as [TestServer];
  const ended = server.kill('SIGTERM');
  const began = performance.now();
  await eventually(async () => {
    const reply = (await anonymous(server).get('/health/ready')).expect(503, 'UNAVAILABLE');
    expect(reply.at('detail')).toBe('This server is being shut down.');
  }, { within: 4_000 });
  (await anonymous(server).get('/health/live')).expect(200);
  const call = await fetch(`${server.url}${EXECUTE}`, {
    method: 'POST', headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ capability: 'web.search' }),
  });
  expect([call.status, call.headers.get('connection')]).toEqual([200, 'close']);
  await ended;
  expect(performance.now() - began).toBeGreaterThan(4_900);
  await expect(fetch(`${server.url}/health`)).rejects.toThrow('fetch failed');
  await server.restart();
});

async function executions(): Promise<number> {
  const [row] = await servers[0]!.sql<{ count: string }>('select count(*) from executions');
  return Number(row!.count);
}

async function agentKey(): Promise<string> {
  const agent = await anAgent(servers[0]!).granted('web.search').create();
  const made = (await asRoot(servers[0]!).post(`/api/v1/agents/${agent.id}/keys`, { name: 'load' })).expect(201);
  return made.text('secret');
}
