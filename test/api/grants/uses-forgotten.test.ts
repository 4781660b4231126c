import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asRoot } from '../../support/http/actors.js';
import { anAgent } from '../../support/builders/agents.js';
import { callLimit as calls, type Ended } from '../../support/builders/counting-scenario.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => {
  await server.stop();
});

test('uses of what began before any window are forgotten, of what still waits not: it gives its share back', async () => {
  const root = asRoot(server);
  const { client } = await anAgent(server).granted('web.search', { hitlMode: 'propose', limits: [calls(2, 'block', 'total')] }).create();
  const ask = async () => (await client.post<Ended>('/api/v1/execute', { capability: 'web.search' })).body;
  const uses = ({ executionId }: Ended) => server.sql('select 1 from grant_uses where execution_id = $1', [executionId]);
  const begun = await ask();
  (await root.post(`/api/v1/hitl/${begun.hitlRequestId}/approve`)).expect(200);
  const waiting = await ask();
  await server.sql(`update grant_uses set used_at = used_at - interval '121 days'`);
  // The janitor comes once a minute, and with each start.
  await server.restart();
  await eventually(async () => expect(await uses(begun)).toEqual([]), { within: 120_000 });
  expect(await uses(waiting)).toHaveLength(1);
  expect((await ask()).status).toBe('blocked');
  (await root.post(`/api/v1/hitl/${waiting.hitlRequestId}/reject`)).expect(200);
  expect((await ask()).status).toBe('pending_hitl');
});
