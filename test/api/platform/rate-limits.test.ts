import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous, as, asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { anAgent, anAgentKey } from '../../support/builders/agents.js';
import { aPerson } from '../../support/builders/people.js';
import { asSession } from '../../support/builders/tenants.js';
import { closeRawConnections, sendRaw } from '../../support/http/raw-http.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const PRINCIPAL = 40;
const ADDRESS = 16;
const LIMITS = { RATE_LIMIT_PRINCIPAL: String(PRINCIPAL), RATE_LIMIT_ANONYMOUS: String(ADDRESS) };

const WRONG_KEY = `svc_root_${'0'.repeat(64)}`;
const CATALOGUE = '/api/v1/capabilities';

/** Behind a trusted proxy, so that each test may call from addresses of its own. */
let one: TestServer;
let two: TestServer;

beforeAll(async () => {
  const env = { ...LIMITS, TRUSTED_PROXIES: '127.0.0.1' };
  one = await startServer({ env });
  two = await startServer({ replicaOf: one, env });
});

afterAll(async () => {
  closeRawConnections();
  await two.stop();
  await one.stop();
});

const from = (address: string, client: Client): Client => client.with({ 'x-forwarded-for': address });

const statuses = (answers: readonly Reply[]) => answers.reduce<Record<number, number>>(
  (counts, { status }) => ({ ...counts, [status]: (counts[status] ?? 0) + 1 }), {},
);

async function repeat(times: number, call: (nth: number) => Promise<Reply>): Promise<Reply[]> {
  const answers: Reply[] = [];
  for (let nth = 0; nth < times; nth++) answers.push(await call(nth));
  return answers;
}

/** RFC 9457, a plain Retry-After, the IETF headers, and no others. */
function expectLimited(answer: Reply, policy: string): void {
  answer.expect(429, 'RATE_LIMITED');
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(answer.headers.get('retry-after')).toMatch(/^([1-9]|[1-5]\d|60)$/);
  expect(answer.headers.get('ratelimit-policy')).toMatch(policy);
  expect(answer.headers.get('ratelimit')).toBe(`${policy.split(';')[0]};r=0;t=${answer.headers.get('retry-after')}`);
  expect([...answer.headers.keys()].filter((name) => /^x-ratelimit|^retry-after-/.test(name))).toEqual([]);
}

describe('of a principal', () => {
  test('over two replicas together exactly the limit passes', async () => {
    const { token } = await anAgent(one).create();
    const answers = await repeat(3 * PRINCIPAL, (nth) => as(nth % 2 ? one : two, token).get(CATALOGUE));
    expect(statuses(answers)).toEqual({ 200: PRINCIPAL, 429: 2 * PRINCIPAL });
    for (const answer of answers.slice(-2)) expectLimited(answer, `"principal";q=${PRINCIPAL};w=60`);
  });

  test('also when all calls come at once', async () => {
    const { token } = await anAgent(one).create();
    const call = (nth: number) => as(nth % 2 ? one : two, token).get(CATALOGUE);
    const answers = await Promise.all(Array.from({ length: 2 * PRINCIPAL }, (_, nth) => call(nth)));
    expect(statuses(answers)[200]).toBeLessThanOrEqual(PRINCIPAL);
    const rest = await repeat(2 * PRINCIPAL, call);
    const passed = statuses([...answers, ...rest])[200];
    expect(passed).toBeLessThanOrEqual(PRINCIPAL);
    // A chunk is two calls. One whose answer came too late, on a machine that is overloaded, is lost.
    expect(passed).toBeGreaterThanOrEqual(PRINCIPAL - 4);
  });

  test('every answer says what is left', async () => {
    const { client } = await anAgent(one).create();
    const answers = await repeat(3, () => client.get(CATALOGUE));
    expect(answers.map(({ headers }) => headers.get('ratelimit')?.replace(/t=\d+$/, 't=…'))).toEqual(
      [1, 2, 3].map((nth) => PRINCIPAL - nth).map((left) => `"principal";r=${left};t=…`),
    );
    expect(answers[0]!.headers.get('ratelimit-policy')).toBe(`"principal";q=${PRINCIPAL};w=60`);
  });

  test('all routes count together, refusals by the access table and of the gate too; others are not concerned', async () => {
    const { client, id } = await anAgent(one).granted('web.search').create();
    const person = await aPerson(one, 'admin');
    await repeat(PRINCIPAL / 4, () => client.get(`/api/v1/agents/${id}`));
    await repeat(PRINCIPAL / 4, async () => (await client.post('/api/v1/agents', { name: 'no' })).expect(403, 'FORBIDDEN'));
    await repeat(PRINCIPAL / 4, async () => (await client.post('/api/v1/execute', { capability: 'web.search' })).expect(200));
    await repeat(PRINCIPAL / 4, async () => (await client.post('/api/v1/execute', { capability: 'email.send' })).expect(403));
    expectLimited(await client.post('/api/v1/execute', { capability: 'web.search' }), '"principal"');
    expectLimited(await client.post('/api/v1/agents', { name: 'no' }), '"principal"');

    const { client: other } = await anAgent(one).create();
    for (const free of [other, person.client]) (await free.get(CATALOGUE)).expect(200);
  });

  test('a token that was ended uses nothing up of what the agent may call', async () => {
    const { id, token, client } = await anAgent(one).granted('web.search').create();
    (await asRoot(one).delete(`/api/v1/agents/${id}/tokens`)).expect(204);
    const ended = from('198.51.100.40', client);
    await repeat(2 * PRINCIPAL, () => ended.post('/api/v1/execute', { capability: 'web.search' }));
    const fresh = (await asRoot(one).post(`/api/v1/agents/${id}/token`)).text('token');
    expect(fresh).not.toBe(token);
    (await as(one, fresh).post('/api/v1/execute', { capability: 'web.search' })).expect(200);
  });

  test('a limited call changes nothing, and has its body not even read', async () => {
    const { client } = await anAgent(one).granted('web.search').create();
    await repeat(PRINCIPAL, () => client.get(CATALOGUE));
    expectLimited(await client.post('/api/v1/execute', undefined, { raw: '{"not": json' }), '"principal"');
  });
});

describe('of an address', () => {
  const POLICY = `"address";q=${ADDRESS};w=60`;

  test('calls without a credential count, whatever they ask for, over both replicas', async () => {
    const paths = ['/docs', '/openapi.json', '/no/such/path', CATALOGUE, '/docs/assets/docs.css', '/'];
    const answers = await repeat(4 * ADDRESS, (nth) =>
      from('198.51.100.1', anonymous(nth % 2 ? one : two)).get(paths[nth % paths.length]!));
    expect(statuses(answers)[429]).toBe(3 * ADDRESS);
    for (const answer of answers.slice(-paths.length)) expectLimited(answer, POLICY);
    expect(answers[0]!.headers.get('ratelimit')).toMatch(/^"address";r=\d+;t=\d+$/);
  });

  test('health is exempt, and a good credential passes all the same', async () => {
    const { token } = await anAgent(one).create();
    const address = '198.51.100.2';
    await repeat(ADDRESS + 1, () => from(address, as(one, WRONG_KEY)).get(CATALOGUE));
    expectLimited(await from(address, anonymous(one)).get('/docs'), POLICY);
    for (const path of ['/health', '/health/live', '/health/ready']) {
      const answer = (await from(address, anonymous(one)).get(path)).expect(200);
      expect(answer.headers.get('ratelimit')).toBeNull();
    }
    (await from(address, as(one, token)).get(CATALOGUE)).expect(200);
    (await from(address, asRoot(one)).get(CATALOGUE)).expect(200);
    const { client } = await asSession(one, await aPerson(one, 'viewer'));
    (await from(address, client).get(CATALOGUE)).expect(200);
  });

  test('a cookie counts too once its session has ended, and so does one that is not ours', async () => {
    const { client } = await asSession(one, await aPerson(one, 'viewer'), { endedBecause: 'asked' });
    for (const [address, caller] of [['198.51.100.60', client], ['198.51.100.61', anonymous(one).with({ cookie: 'other=1' })]] as const) {
      const answers = await repeat(2 * ADDRESS, () => from(address, caller).get(CATALOGUE));
      expect(statuses(answers)).toEqual({ 401: ADDRESS, 429: ADDRESS });
      expectLimited(answers.at(-1)!, POLICY);
    }
  });

  test.each([
    ['a wrong key', { authorization: `Bearer ${WRONG_KEY}` }],
    ['a header that is no credential', { authorization: 'Basic eDp5' }],
    ['a wrong x-api-key', { 'x-api-key': 'nothing' }],
    ['the cookie of no session', { cookie: `countersign=${'A'.repeat(43)}` }],
  ].map(([name, headers], nth) => ({ name, headers, address: `198.51.100.${10 + nth}` })))(
    '$name counts, and is answered 429 in place of 401 then', async ({ headers, address }) => {
      const client = from(address, anonymous(one)).with(headers as Record<string, string>);
      const answers = await repeat(2 * ADDRESS, () => client.get(CATALOGUE));
      expect(statuses(answers)).toEqual({ 401: ADDRESS, 429: ADDRESS });
      expectLimited(answers.at(-1)!, POLICY);
    });

  test('agent keys that nobody made count too; one that is good passes past it, whether or not this server has seen it', async () => {
    const agent = await anAgent(one).create();
    const [seen, unseen] = [await anAgentKey(one, agent), await anAgentKey(one, agent)];
    (await seen.client.get(CATALOGUE)).expect(200);
    const address = '198.51.100.70';
    const guess = (nth: number) => from(address, as(one, `svc_agent_${String(nth).padStart(64, '0')}`)).get(CATALOGUE);
    expect(statuses(await repeat(2 * ADDRESS, guess))).toEqual({ 401: ADDRESS, 429: ADDRESS });
    const guesses = Array.from({ length: 100 }, (_, nth) => guess(1_000 + nth));
    const good = await Promise.all([seen, unseen].map(({ client }) => from(address, client).get(CATALOGUE)));
    expect(statuses(good)).toEqual({ 200: 2 });
    expect(statuses(await Promise.all(guesses))).toEqual({ 429: 100 });
  });

  test.each([
    { name: 'its commit', nth: 0, options: {} },
    { name: 'the check of a body that cannot be read', nth: 1, options: { raw: '{"not": json' } },
  ])('tokens that were ended count where $name finds out, over their epochs together', async ({ nth, options }) => {
    const { id, token } = await anAgent(one).granted('web.search').create();
    const address = `198.51.100.${50 + nth}`;
    const execute = (bearer: string, how = {}) =>
      from(address, as(one, bearer)).post('/api/v1/execute', { capability: 'web.search' }, how);
    const tokens = [token];
    for (let epoch = 0; epoch < 3; epoch++) {
      (await asRoot(one).delete(`/api/v1/agents/${id}/tokens`)).expect(204);
      tokens.push((await asRoot(one).post(`/api/v1/agents/${id}/token`)).text('token'));
    }
    const good = tokens.pop()!;
    const answers = await repeat(2 * ADDRESS, (call) => execute(tokens[call % tokens.length]!, options));
    expect(statuses(answers)).toEqual({ 401: ADDRESS, 429: ADDRESS });
    expect(answers[0]!.headers.get('ratelimit-policy')).toBe(POLICY);
    expectLimited(answers.at(-1)!, POLICY);
    (await execute(good)).expect(200);

    const answered = await asRoot(one).get('/api/v1/audit', { query: { event: 'auth.failed', limit: 500 } });
    const failed = answered.expect(200).list('entries').filter((entry) => JSON.stringify(entry).includes(address));
    // One at once; its minute, and the count of the rest, may end before the test does.
    expect([1, 2, 3]).toContain(failed.length);
  });

  test.each([
    ['an unknown path', '/no/such/path', 404],
    ['the documentation', '/docs', 200],
    ['an address that is not percent-encoded', '/api/v1/agents/%E0%A4%A', 400],
  ].map(([name, target, status], nth) => ({ name, target, status, address: `198.51.100.${20 + nth}` })))(
    'a made-up credential is no way around on $name', async ({ target, status, address }) => {
      const counts = new Map<number, number>();
      for (let nth = 0; nth < 2 * ADDRESS; nth++) {
        const headers = ['authorization', `Bearer ${WRONG_KEY}`, 'x-forwarded-for', address];
        const answer = await sendRaw(one.url, { target: target as string, headers });
        counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
      }
      expect([...counts]).toEqual([[status, ADDRESS], [429, ADDRESS]]);
    });

  test('unknown paths of a known principal are counted by nobody’s address', async () => {
    const { token } = await anAgent(one).create();
    const client = from('198.51.100.30', as(one, token));
    const answers = await repeat(5, () => client.get(`/api/v1/agents/agt_${'0'.repeat(26)}`));
    expect(statuses(answers)).toEqual({ 404: 5 });
    expect(answers.map(({ headers }) => headers.get('ratelimit')?.startsWith('"principal"'))).toEqual(Array(5).fill(true));
  });

  test('each client behind a trusted proxy counts by itself; what it writes into the header changes nothing', async () => {
    const answers = await repeat(2 * ADDRESS, (nth) => from(`192.0.2.${nth}, 203.0.113.1`, anonymous(one)).get(CATALOGUE));
    expect(statuses(answers)).toEqual({ 401: ADDRESS, 429: ADDRESS });
    (await from('203.0.113.2', anonymous(one)).get(CATALOGUE)).expect(401);
  });

  test('the addresses of one IPv6 network count together', async () => {
    const answers = await repeat(2 * ADDRESS, (nth) => from(`2001:db8:7:7::${nth}`, anonymous(one)).get(CATALOGUE));
    expect(statuses(answers)).toEqual({ 401: ADDRESS, 429: ADDRESS });
    (await from('2001:db8:7:8::1', anonymous(one)).get(CATALOGUE)).expect(401);
  });
});
