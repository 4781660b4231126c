import { afterAll, beforeAll, test } from '@jest/globals';
import { asRoot } from '../../support/http/actors.js';
import { anAgent } from '../../support/builders/agents.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

// What the proof `hitl-walk` found, each as small as it could be made.

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test.each(['approve', 'reject', 'escalate', 'cancel'])('%s after the window is late, whatever it was shown', async (verb) => {
  const agent = await anAgent(server).granted('email.send', { hitlMode: 'propose' }).create();
  const id = (await agent.client.post('/api/v1/execute', { capability: 'email.send' })).expect(202).text('hitlRequestId');
  await server.sql('update hitl_requests set expires_at = clock_timestamp() where id = $1', [id]);
  (await asRoot(server).post(`/api/v1/hitl/${id}/${verb}`, { reason: 'late', expectedDigest: '0'.repeat(64) })).expect(409, 'HITL_EXPIRED');
});
