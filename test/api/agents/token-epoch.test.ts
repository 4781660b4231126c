import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { asAgent, asRoot, type Reply } from '../../support/http/actors.js';
import { claimsOf, signToken } from '../../support/builders/agent-token.js';
import { eventsOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const now = () => Math.floor(Date.now() / 1000);
const refresh = (agent: BuiltAgent, token = agent.token, body?: unknown): Promise<Reply> =>
  asAgent(server, token).post(`/api/v1/agents/${agent.id}/token/refresh`, body);

async function works(token: string, at = server): Promise<boolean> {
  const answer = await asAgent(at, token).get('/api/v1/capabilities');
  if (answer.status !== 200) answer.expect(401, 'UNAUTHENTICATED');
  return answer.status === 200;
}

describe('epoch', () => {
  const epochOf = async ({ id }: BuiltAgent) =>
    Number((await server.sql<{ epoch: string }>('select epoch from agents where id = $1', [id]))[0]?.epoch);

  test('DELETE …/tokens ends every token at once; a new one holds', async () => {
    const agent = await anAgent(server).granted('web.search').create();
    const second = (await refresh(agent)).expect(200).text('token');
    const before = now();
    (await asRoot(server).delete(`/api/v1/agents/${agent.id}/tokens`)).expect(204);
    expect([await works(agent.token), await works(second)]).toEqual([false, false]);
    (await asAgent(server, second).post('/api/v1/execute', { capability: 'web.search' })).expect(401, 'UNAUTHENTICATED');
    (await refresh(agent, second)).expect(401);
    expect(await epochOf(agent)).toBeGreaterThanOrEqual(before);
    const fresh = (await asRoot(server).post(`/api/v1/agents/${agent.id}/token`)).expect(200).text('token');
    expect(claimsOf(fresh).epoch).toBe(await epochOf(agent));
    expect(await works(fresh)).toBe(true);
    expect(await eventsOf(server, agent.id)).toContain('agent.tokens_revoked');
  });

  test('it rises each time, also twice within a second', async () => {
    const agent = await anAgent(server).create();
    const seen = [await epochOf(agent)];
    for (let turn = 0; turn < 3; turn++) {
      (await asRoot(server).delete(`/api/v1/agents/${agent.id}/tokens`)).expect(204);
      seen.push(await epochOf(agent));
    }
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
  });

  test('a higher epoch than the agent\'s is as dead as a lower one', async () => {
    const agent = await anAgent(server).create();
    (await asRoot(server).delete(`/api/v1/agents/${agent.id}/tokens`)).expect(204);
    const epoch = await epochOf(agent);
    expect(await works(signToken({ ...claimsOf(agent.token), epoch: epoch + 1 }))).toBe(false);
    expect(await works(signToken({ ...claimsOf(agent.token), epoch: epoch - 1 }))).toBe(false);
    expect(await works(signToken({ ...claimsOf(agent.token), epoch }))).toBe(true);
  });

  test('activating raises it: tokens from before stay dead', async () => {
    const agent = await anAgent(server).create();
    const before = now();
    (await asRoot(server).post(`/api/v1/agents/${agent.id}/deactivate`)).expect(200);
    (await asRoot(server).post(`/api/v1/agents/${agent.id}/activate`)).expect(200);
    expect(await works(agent.token)).toBe(false);
    expect(await epochOf(agent)).toBeGreaterThanOrEqual(before);
    expect(await works((await asRoot(server).post(`/api/v1/agents/${agent.id}/token`)).expect(200).text('token'))).toBe(true);
  });

  test('epoch and organization are compared only for an active agent', async () => {
    const agent = await anAgent(server).create();
    (await asRoot(server).delete(`/api/v1/agents/${agent.id}/tokens`)).expect(204);
    (await asRoot(server).post(`/api/v1/agents/${agent.id}/deactivate`)).expect(200);
    (await agent.client.get('/api/v1/agents')).expect(403, 'AGENT_INACTIVE');
  });

  test('holds on every replica', async () => {
    const replica = await startServer({ replicaOf: server });
    try {
      const agent = await anAgent(server).granted('web.search').create();
      expect(await works(agent.token, replica)).toBe(true);
      (await asAgent(replica, agent.token).post('/api/v1/execute', { capability: 'web.search' })).expect(200);
      (await asRoot(server).delete(`/api/v1/agents/${agent.id}/tokens`)).expect(204);
      expect(await works(agent.token, replica)).toBe(false);
      (await asAgent(replica, agent.token).post('/api/v1/execute', { capability: 'web.search' })).expect(401, 'UNAUTHENTICATED');
    } finally {
      await replica.stop();
    }
  });
});
