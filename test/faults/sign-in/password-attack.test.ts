import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { aPassword, aVisitor, PASSWORD, type Visitor } from '../../support/sign-in/passwords.js';
import { aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { originOf } from '../../support/builders/tenants.js';

const CAPABILITY = 'web.search';
const HOME = '203.0.113.9';

let servers: TestServer[];
let visitors: Visitor[];
let agent: BuiltAgent;
let person: BuiltPerson;
let n = 0;

beforeAll(async () => {
  const server = await startServer({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
  const replica = await startServer({ replicaOf: server, env: { TRUSTED_PROXIES: '127.0.0.1', APP_URL: originOf(server) } });
  servers = [server, replica];
  visitors = await Promise.all(servers.map((one) => aVisitor(one)));
  agent = await anAgent(server).granted(CAPABILITY).create();
  person = await aPerson(server, 'member');
  await aPassword(server, person);
});
afterAll(async () => {
  await servers[1]!.stop();
  await servers[0]!.stop();
});

/** One of many machines guesses, on one of the two servers. */
function guess(email: string, i: number): Promise<number> {
  const server = i % 2;
  return visitors[server]!.post('/sign-in', { email, password: `guess ${i}`, returnTo: '/docs' }, {
    'x-forwarded-for': `198.18.${(++n >> 8) & 255}.${n & 255}`, origin: originOf(servers[0]!),
  }).then(({ status }) => status);
}

/** Many at once, so many all in all. */
async function flood(count: number, atOnce: number, one: (i: number) => Promise<number>): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  let next = 0;
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (next < count) {
      const status = await one(next++);
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
  }));
  return counts;
}

test('a thousand guesses at one account, from a thousand addresses on two servers, are judged a handful of times', async () => {
  const before = Date.now();
  const counts = await flood(1_000, 40, (i) => guess(person.email, i));
  // Five are free, and each one after them doubles the pause: in so many seconds no more than the logarithm of them.
  const most = 5 + Math.ceil(Math.log2((Date.now() - before) / 1_000 + 2)) + 1;
  expect(counts.get(401)).toBeLessThanOrEqual(most);
  expect([...counts.keys()].filter((status) => ![401, 429, 503].includes(status))).toEqual([]);
  expect(counts.get(429)).toBeGreaterThan(900);
});

test('guesses at as many accounts as there are leave the gate alive, and let in whoever has been there before', async () => {
  // Somebody has signed in from home, before anything happens.
  await servers[0]!.sql('delete from sign_in_slowdowns');
  const home = await aVisitor(servers[0]!, HOME);
  expect((await home.signIn(person.email, PASSWORD)).status).toBe(303);

  let isOver = false;
  const attack = flood(200, 60, (i) => guess(`nobody.${i}@example.test`, i)).finally(() => (isOver = true));
  const executed: string[] = [];
  const signedIn: number[] = [];
  while (!isOver) {
    const { status, body } = await agent.client.post('/api/v1/execute', { capability: CAPABILITY, input: { query: 'x' } });
    executed.push(status === 200 ? '200' : `${status} ${JSON.stringify(body)}`);
    if (signedIn.length < 3) signedIn.push((await home.signIn(person.email, PASSWORD)).status);
  }
  const counts = await attack;
  expect(new Set(executed)).toEqual(new Set(['200']));
  expect(new Set(signedIn)).toEqual(new Set([303]));
  // What is more than can be judged is refused at once.
  expect(counts.get(503)).toBeGreaterThan(0);
  expect([...counts.keys()].filter((status) => ![401, 503].includes(status))).toEqual([]);
  // It is not counted either.
  const [counted] = await servers[0]!.sql<{ rows: number }>(
    `select count(*)::integer as rows from sign_in_slowdowns where failures > 0 and until > clock_timestamp() + interval '1 hour'`);
  expect(counted!.rows).toBeLessThanOrEqual(counts.get(401)!);
});
