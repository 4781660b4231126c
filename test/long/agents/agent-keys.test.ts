import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asRoot, type Client } from '../../support/http/actors.js';
import { anAgent, anAgentKey } from '../../support/builders/agents.js';
import { eventually } from '../../support/running/eventually.js';
import { openEvents } from '../../support/http/event-stream.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { verifiedLog } from '../../support/log/verified-log.js';

let server: TestServer;
let replica: TestServer;

beforeAll(async () => {
  server = await startServer();
  replica = await startServer({ replicaOf: server });
});

afterAll(async () => {
  await replica.stop();
  await server.stop();
});

const execute = (client: Client, capability: string) => client.post('/api/v1/execute', { capability });

test('whoever follows events by a key hears of their own requests, and no more once the key is deleted', async () => {
  const agent = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).create();
  const key = await anAgentKey(server, agent);
  const ask = async (client: Client) => (await execute(client, 'email.send')).expect(202).text('hitlRequestId');
  const stream = await openEvents(replica, key.secret);
  expect(stream.status).toBe(200);
  await stream.has(1, [await ask(key.client)]);
  (await asRoot(server).delete(`/api/v1/agents/${agent.id}/keys/${key.id}`)).expect(204);
  await eventually(() => expect(stream.isOver()).toBe(true));
  const later = await ask(agent.client);
  expect(stream.text()).not.toContain(later);
  expect((await openEvents(replica, key.secret)).status).toBe(401);
});

test('the log tells that a key stood behind what began, and policy replay decides it again in the same way', async () => {
  const agent = await anAgent(server).create();
  const key = await anAgentKey(server, agent);
  (await execute(key.client, 'web.search')).expect(403, 'CAPABILITY_NOT_GRANTED');
  (await asRoot(server).post('/api/v1/capabilities/grant', { agentId: agent.id, capability: 'web.search' })).expect(201);
  // The only token of the agent does not name it: only the key can stand behind this.
  (await execute(key.client, 'web.search')).expect(200);
  (await asRoot(server).delete(`/api/v1/agents/${agent.id}/keys/${key.id}`)).expect(204);
  expect(await verifiedLog(server.database.url)).toMatchObject({ valid: true });
});
