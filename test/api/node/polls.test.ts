import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { BuiltAgent } from '../../support/builders/agents.js';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { EXECUTE } from '../../support/http/paths.js';
import { aNodesAgent, heartbeat, leased, NODE, result, start } from '../../support/node/work.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let root: Client;

beforeAll(async () => {
  server = await startServer();
  root = asRoot(server);
});
afterAll(() => server.stop());

const call = (agent: BuiltAgent & { readonly capability: string }): Promise<Reply> =>
  agent.client.post(EXECUTE, { capability: agent.capability, input: { pages: 3 } });

test('work is not leased to a poll whose node has gone, but to the next one', async () => {
  const agent = await aNodesAgent(server);
  const gone = new AbortController();
  const poll = agent.client.post(`${NODE}/tasks/lease`, undefined, { query: { wait: 50 }, signal: gone.signal });
  await eventually(async () => expect((await root.get(`/api/v1/agents/${agent.id}`)).at('agent')).toHaveProperty('nodeLastSeen'));
  gone.abort();
  await expect(poll).rejects.toThrow();
  const living = agent.client.post(`${NODE}/tasks/lease`, undefined, { query: { wait: 15 } });
  const answer = call(agent);
  const work = (await living).expect(200).at('task') as { id: string; fence: number };
  expect(work.fence).toBe(1);
  (await start(agent.client, work)).expect(200);
  (await result(agent.client, work)).expect(200);
  expect((await answer).body).toMatchObject({ status: 'executed' });
});

test('work is for tokens that hold its capability; a token that does not is told to be refreshed', async () => {
  const agent = await aNodesAgent(server);
  const { capability } = await aNodesAgent(server);
  (await heartbeat(agent.client)).expect(200);
  (await root.post(`/api/v1/agents/${agent.id}/capabilities`, { capability, hitlMode: 'auto' })).expect(201);
  const renewed = root.with({ authorization: `Bearer ${(await root.post(`/api/v1/agents/${agent.id}/token`)).expect(200).text('token')}` });
  const poll = agent.client.post(`${NODE}/tasks/lease`, undefined, { query: { wait: 30 } });
  const answer = renewed.post(EXECUTE, { capability });
  expect((await poll).expect(403, 'CAPABILITY_NOT_IN_TOKEN').text('detail')).toContain(capability);
  const work = await leased(renewed);
  (await start(agent.client, work)).expect(403, 'CAPABILITY_NOT_IN_TOKEN');
  (await start(renewed, work)).expect(200);
  // While the other waits, what the old token holds is still for it.
  const other = call(agent);
  const held = await leased(agent.client);
  expect(held.id).not.toBe(work.id);
  (await start(agent.client, held)).expect(200);
  for (const one of [work, held]) (await result(agent.client, one)).expect(200);
  expect([(await answer).at('status'), (await other).at('status')]).toEqual(['executed', 'executed']);
});
