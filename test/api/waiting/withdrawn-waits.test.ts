import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asRoot } from '../../support/http/actors.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { defineCapability, pauseOutbox } from '../../support/builders/gate.js';
import { pause } from '../../support/proofs/races.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const CAPABILITY = 'withdrawn.push';
/** Far less than a wait looks by itself. */
const SOON_MS = 6_000;

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
  const connector = { type: 'http', method: 'POST', url: 'http://127.0.0.1:9/push', body: '{input}' };
  await defineCapability(server, CAPABILITY, { connector });
  await pauseOutbox(server);
});
afterAll(() => server.stop());

const due = () => server.sql(`update outbox set available_at = clock_timestamp() where kind = 'execution.run'`);

test.each<[string, (agent: BuiltAgent) => Promise<unknown>]>([
  ['by a stop', async (agent) => {
    (await asRoot(server).post('/api/v1/stops', { scope: 'agent', id: agent.id, reason: 'held' })).expect(201);
    await due();
  }],
  ['by what the gate says now', async () => {
    const inputSchema = { type: 'object', required: ['more'] };
    (await asRoot(server).patch(`/api/v1/capabilities/${CAPABILITY}`, { inputSchema })).expect(200);
    await due();
  }],
  ['with its agent', async (agent) => (await asRoot(server).delete(`/api/v1/agents/${agent.id}`)).expect(204)],
])('who waits for a request is told when what was approved is withdrawn %s', async (_name, withdraw) => {
  const agent = await anAgent(server).granted(CAPABILITY, { hitlMode: 'propose' }).create();
  const call = (await agent.client.post('/api/v1/execute', { capability: CAPABILITY, input: { more: 1 } })).expect(202);
  const id = call.text('hitlRequestId');
  (await asRoot(server).post(`/api/v1/hitl/${id}/approve`, {}, { query: { wait: 0 } })).expect(200);
  const waiting = asRoot(server).get(`/api/v1/hitl/${id}`, { query: { wait: 30 } });
  await pause(500);
  const begun = performance.now();
  await withdraw(agent);
  expect((await waiting).expect(200).at('execution')).toMatchObject({ status: 'cancelled' });
  expect(performance.now() - begun).toBeLessThan(SOON_MS);
});
