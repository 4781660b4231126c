import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asAgent, asRoot, type Reply } from '../../support/http/actors.js';
import { claimsOf, signToken } from '../../support/builders/agent-token.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const ISSUER = 'https://countersign.example';

let server: TestServer;

beforeAll(async () => {
  server = await startServer({
    env: { JWT_ISSUER: ISSUER, AGENT_JWT_TTL: '10m', AGENT_JWT_MAX: '20m', AGENT_SESSION_MAX: '1h', AGENT_REFRESH_WINDOW: '60' },
  });
});
afterAll(() => server.stop());

const now = () => Math.floor(Date.now() / 1000);
const refresh = (agent: BuiltAgent, token: string, body?: unknown): Promise<Reply> =>
  asAgent(server, token).post(`/api/v1/agents/${agent.id}/token/refresh`, body);
const works = async (token: string) => (await asAgent(server, token).get('/api/v1/capabilities')).status === 200;

test('AGENT_JWT_TTL and AGENT_JWT_MAX bound a token\'s life', async () => {
  const agent = await anAgent(server).create();
  const claims = claimsOf(agent.token);
  expect(Number(claims.exp) - Number(claims.iat)).toBe(600);
  expect(await works(signToken({ ...claims, exp: Number(claims.iat) + 1_200 }))).toBe(true);
  expect(await works(signToken({ ...claims, exp: Number(claims.iat) + 1_201 }))).toBe(false);
});

test('with JWT_ISSUER tokens name it, and our own claims are required', async () => {
  const agent = await anAgent(server).create();
  const claims = claimsOf(agent.token);
  expect(claims.iss).toBe(ISSUER);
  for (const name of ['iss', 'aud', 'jti', 'epoch', 'auth_time']) {
    const { [name]: _, ...rest } = claims;
    expect([name, await works(signToken(rest))]).toEqual([name, false]);
  }
  expect(await works(signToken({ ...claims, iss: 'countersign' }))).toBe(false);
  expect(await works(signToken(claims))).toBe(true);
});

test('AGENT_SESSION_MAX ends a chain of refreshes', async () => {
  const agent = await anAgent(server).create();
  const aged = (seconds: number) => signToken({ ...claimsOf(agent.token), auth_time: now() - seconds });
  (await refresh(agent, aged(3_500))).expect(200);
  (await refresh(agent, aged(3_602))).expect(401, 'UNAUTHENTICATED');
});

const late = (agent: BuiltAgent, seconds: number, jti: unknown = claimsOf(agent.token).jti) =>
  signToken({ ...claimsOf(agent.token), iat: now() - 300, auth_time: now() - 300, exp: now() - seconds, jti });

test('AGENT_REFRESH_WINDOW lets a token be refreshed shortly after its end, once', async () => {
  const agent = await anAgent(server).create();
  const token = late(agent, 10);
  const fresh = (await refresh(agent, token)).expect(200).text('token');
  expect(await works(fresh)).toBe(true);
  (await refresh(agent, token)).expect(401, 'UNAUTHENTICATED');
  // Once for each token id, whatever else is said around it.
  (await refresh(agent, late(agent, 11))).expect(401);
  (await refresh(agent, late(agent, 10, 'another'))).expect(200);
});

test('of parallel late refreshes exactly one is served', async () => {
  const agent = await anAgent(server).create();
  const token = late(agent, 5);
  const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(agent, token)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401, 401, 401, 401]);
});

test('past the window it is refused, and within it it is good for nothing else', async () => {
  const agent = await anAgent(server).granted('web.search').create();
  (await refresh(agent, late(agent, 62))).expect(401);
  const client = asAgent(server, late(agent, 10));
  (await client.get('/api/v1/agents')).expect(401, 'UNAUTHENTICATED');
  (await client.post('/api/v1/execute', { capability: 'web.search' })).expect(401, 'UNAUTHENTICATED');
  (await client.post('/api/v1/hitl', { capability: 'web.search' })).expect(401, 'UNAUTHENTICATED');
});

test('a late refusal for changed capabilities does not spend the token', async () => {
  const agent = await anAgent(server).granted('web.search').create();
  const token = late(agent, 5);
  (await asRoot(server).post(`/api/v1/agents/${agent.id}/capabilities`, { capability: 'file.read' })).expect(201);
  const { body } = (await refresh(agent, token)).expect(409, 'CAPABILITIES_CHANGED');
  const capabilities = (body as { currentCapabilities: string[] }).currentCapabilities;
  (await refresh(agent, token, { capabilities })).expect(200);
});
