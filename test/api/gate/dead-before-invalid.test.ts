import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { anAgent, anAgentKey } from '../../support/builders/agents.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let live: Client;
let dead: readonly Client[];

beforeAll(async () => {
  server = await startServer();
  const root = asRoot(server);
  const [agent, other] = [await anAgent(server).granted('web.search').create(), await anAgent(server).granted('web.search').create()];
  const key = await anAgentKey(server, other);
  (await key.client.post('/api/v1/execute', { capability: 'web.search' })).expect(200);
  (await root.delete(`/api/v1/agents/${other.id}/tokens`)).expect(204);
  live = agent.client;
  dead = [other.client, key.client];
});

afterAll(() => server.stop());

const GOOD = { capability: 'web.search' };

describe.each(['/api/v1/execute', '/api/v1/executions'])('on %s, whose caller the commit judges', (path) => {
  test.each<[string, (client: Client) => Promise<Reply>]>([
    ['an unknown parameter', (client) => client.post(path, GOOD, { query: { dryRun: true } })],
    ['a parameter of another kind', (client) => client.post(path, GOOD, { query: { wait: 'long' } })],
    ['a query that is not percent-encoded', (client) => client.post(`${path}?wait=%E0%A4%A`, GOOD)],
    ['an unknown member', (client) => client.post(path, { ...GOOD, dryrun: true })],
    ['a body that is no JSON', (client) => client.post(path, undefined, { raw: '{"not": json' })],
    ['no JSON, with an Idempotency-Key',
      (client) => client.with({ 'idempotency-key': 'k1' }).post(path, undefined, { raw: '{"not": json' })],
    ['an Idempotency-Key that can be none', (client) => client.with({ 'idempotency-key': 'k'.repeat(500) }).post(path, GOOD)],
  ])('%s is 400 of a live credential, and 401 of a dead one', async (_, call) => {
    (await call(live)).expect(400, 'VALIDATION_FAILED');
    for (const client of dead) (await call(client)).expect(401, 'UNAUTHENTICATED');
  });
});
