import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { type CapabilityChange, Countersign } from '@countersign/sdk';
import { anAgent } from '../support/builders/agents.js';
import { signToken } from '../support/builders/agent-token.js';
import { asRoot } from '../support/http/actors.js';
import { rejection } from '../support/sdk/callers.js';
import { type Gateway, startGateway } from '../support/sdk/gateway.js';
import { startServer, type TestServer } from '../support/servers/server.js';

/** Refreshes ended tokens for five minutes, once each. */
let server: TestServer;
/** The same service, which refreshes none that has ended. */
let strict: TestServer;
let gateway: Gateway;
beforeAll(async () => {
  strict = await startServer();
  server = await startServer({ replicaOf: strict, env: { AGENT_REFRESH_WINDOW: '300' } });
});
afterAll(async () => {
  await server.stop();
  await strict.stop();
});
beforeEach(async () => {
  gateway = await startGateway(() => [server.url]);
});
afterEach(() => gateway.close());

const REFRESH = /\/token\/refresh$/;
const CALLS = 60;
const callsAtOnce = (sdk: Countersign, count = CALLS, capability = 'web.search') =>
  Promise.all(Array.from({ length: count }, (_, n) => sdk.execute(capability, { n })));

/** An agent, with a token that was made an hour ago and ends in so many seconds. */
async function anAgentWithToken(endsIn: number): Promise<{ id: string; token: string }> {
  const { id, agent } = await anAgent(server).granted('web.search').create();
  const now = Math.floor(Date.now() / 1_000);
  const claims = { jti: randomUUID(), sub: id, agent_id: id, org_id: agent['organizationId'], capabilities: ['web.search'] };
  return { id, token: signToken({ ...claims, iat: now - 3_600, exp: now + endsIn }) };
}

test(`${CALLS} calls at the moment of expiry: one refresh, and each call is done once`, async () => {
  const { token } = await anAgentWithToken(-1);
  const sdk = new Countersign({ url: gateway.url, credential: token });
  const outcomes = await callsAtOnce(sdk);
  expect(new Set(outcomes.map(({ executionId }) => executionId)).size).toBe(CALLS);
  expect(gateway.count(REFRESH)).toBe(1);
  expect(gateway.count(/\/execute$/)).toBe(CALLS);
});

test(`${CALLS} calls at four fifths of its life: one refresh`, async () => {
  const { token } = await anAgentWithToken(600);
  const sdk = new Countersign({ url: gateway.url, credential: token });
  await callsAtOnce(sdk);
  expect(gateway.count(REFRESH)).toBe(1);
  await callsAtOnce(sdk, 5);
  expect(gateway.count(REFRESH)).toBe(1);
});

test('trouble with the refresh is none while the token holds', async () => {
  const { token } = await anAgentWithToken(600);
  gateway.fault(({ path }) => (REFRESH.test(path) ? { status: 500 } : undefined));
  const sdk = new Countersign({ url: gateway.url, credential: token });
  expect(await sdk.execute('web.search')).toMatchObject({ status: 'executed' });
  expect(gateway.count(REFRESH)).toBe(1);
});

test("the service's clock counts, not the caller's", async () => {
  const { token } = await anAgent(server).granted('web.search').create();
  const sdk = new Countersign({ url: gateway.url, credential: token });
  await sdk.execute('web.search');
  expect(gateway.count(REFRESH)).toBe(0);
  gateway.clockAhead(3_000);
  await sdk.execute('web.search');
  await sdk.execute('web.search');
  expect(gateway.count(REFRESH)).toBe(1);
});

test('getToken gives the first one, and the next: once for all calls', async () => {
  const { id, token } = await anAgentWithToken(-1);
  const given: string[] = [];
  const getToken = async () => {
    given.push(given.length === 0 ? token : (await asRoot(server).post(`/api/v1/agents/${id}/token`)).expect(200).text('token'));
    return given.at(-1)!;
  };
  const sdk = new Countersign({ url: gateway.url, credential: { getToken } });
  await callsAtOnce(sdk);
  expect(given).toHaveLength(2);
  expect(gateway.count(REFRESH)).toBe(0);
});

describe('getToken', () => {
  const vaultAway = new Error('vault away');
  test.each<[string, () => string | Promise<string>, string]>([
    ['throws', () => {
      throw vaultAway;
    }, 'getToken: vault away'],
    ['is rejected', async () => Promise.reject(vaultAway), 'getToken: vault away'],
    ['gives none', () => '', 'getToken: INVALID_OPTIONS: The credential is none'],
  ])('that %s: the call says so, and nothing is sent', async (_, getToken, detail) => {
    const sdk = new Countersign({ url: gateway.url, credential: { getToken } });
    const failed = { code: 'CALLBACK_FAILED', detail: expect.stringContaining(detail) };
    const calls = [() => sdk.agents.list(), () => sdk.execute('web.search'), () => sdk.hitl.events().next()];
    for (const call of calls) expect(await rejection(call())).toMatchObject(failed);
    expect(gateway.calls).toHaveLength(0);
  });

  test('that never returns: the call ends at its deadline, events by their signal', async () => {
    const sdk = new Countersign({ url: gateway.url, credential: { getToken: () => new Promise<string>(() => undefined) }, timeoutMs: 300 });
    expect(await rejection(sdk.agents.list())).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    const ending = new AbortController();
    const next = sdk.hitl.events({ signal: ending.signal }).next();
    ending.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  test('that fails while the token holds is trouble, and none yet', async () => {
    const { token } = await anAgentWithToken(600);
    const credential = { token, getToken: async () => Promise.reject(vaultAway) };
    expect(await new Countersign({ url: gateway.url, credential }).execute('web.search')).toMatchObject({ status: 'executed' });
  });

  test('that fails behind the back of a call that is over ends no process', async () => {
    const ended = AbortSignal.abort();
    const sdk = new Countersign({ url: gateway.url, credential: { getToken: async () => Promise.reject(vaultAway) } });
    expect(await rejection(sdk.agents.list({}, { signal: ended }))).toMatchObject({ code: 'ABORTED' });
  });
});

test('a token that cannot be kept: the call says so', async () => {
  const { token } = await anAgentWithToken(600);
  const onToken = () => {
    throw new Error('disk full');
  };
  const sdk = new Countersign({ url: gateway.url, credential: token, onToken });
  expect(await rejection(sdk.execute('web.search'))).toMatchObject({ code: 'CALLBACK_FAILED', detail: 'onToken: disk full' });
});

test('an ended token and nothing to get a new one by: a clear error, without the token in it', async () => {
  const { token } = await anAgentWithToken(-1);
  const sdk = new Countersign({ url: strict.url, credential: token });
  const error = await rejection(sdk.execute('web.search')) as Error;
  expect(error).toMatchObject({ code: 'TOKEN_EXPIRED', message: expect.stringContaining('getToken') });
  expect(JSON.stringify([error, error.message, error.stack, String(error.cause)])).not.toContain(token.slice(-20));
});

test('ended by somebody: refused, and not repeated for ever', async () => {
  const { id, token } = await anAgent(server).granted('web.search').create();
  const sdk = new Countersign({ url: gateway.url, credential: token });
  (await asRoot(server).delete(`/api/v1/agents/${id}/tokens`)).expect(204);
  expect(await rejection(sdk.execute('web.search'))).toMatchObject({ code: 'UNAUTHENTICATED', status: 401 });
  expect(gateway.calls).toHaveLength(1);
});

test('what is granted and revoked meanwhile: healed, or its code, and told', async () => {
  const { id, token } = await anAgent(server).granted('web.search').create();
  const changes: CapabilityChange[] = [];
  const sdk = new Countersign({ url: gateway.url, credential: token, onCapabilities: (change) => changes.push(change) });
  const grant = async (capability: string) =>
    (await asRoot(server).post('/api/v1/capabilities/grant', { agentId: id, capability, hitlMode: 'auto' })).expect(201).text('grant.id');
  await grant('data.query');
  const outcomes = await callsAtOnce(sdk, 20, 'data.query');
  expect(outcomes.every(({ status }) => status === 'executed')).toBe(true);
  // Refused with the list that there is, then acknowledged.
  expect(gateway.count(REFRESH)).toBe(2);
  expect(changes).toEqual([{ capabilities: ['data.query', 'web.search'], added: ['data.query'], removed: [] }]);
  const revoked = (await asRoot(server).get(`/api/v1/agents/${id}/capabilities`)).list('grants') as { id: string; capability: string }[];
  const { id: searching } = revoked.find(({ capability }) => capability === 'web.search')!;
  (await asRoot(server).delete(`/api/v1/capabilities/grant/${searching}`)).expect(204);
  expect(await rejection(sdk.execute('web.search'))).toMatchObject({ code: 'CAPABILITY_NOT_GRANTED', status: 403 });
  await grant('file.read');
  expect(await sdk.execute('file.read')).toMatchObject({ status: 'executed' });
  expect(changes.at(-1)).toEqual({ capabilities: ['data.query', 'file.read'], added: ['file.read'], removed: ['web.search'] });
});

test('an agent key needs no token, and holds what is granted at each moment', async () => {
  const { id } = await anAgent(server).create();
  const { secret } = (await asRoot(server).post(`/api/v1/agents/${id}/keys`, { name: 'sdk' })).expect(201).body as { secret: string };
  const sdk = new Countersign({ url: gateway.url, credential: secret });
  expect(await rejection(sdk.execute('web.search'))).toMatchObject({ code: 'CAPABILITY_NOT_GRANTED' });
  (await asRoot(server).post('/api/v1/capabilities/grant', { agentId: id, capability: 'web.search', hitlMode: 'auto' })).expect(201);
  expect(await sdk.execute('web.search')).toMatchObject({ status: 'executed' });
});
