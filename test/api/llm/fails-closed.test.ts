import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { anAgent } from '../../support/builders/agents.js';
import { startModelProvider, type ModelProvider } from '../../support/llm/model-provider.js';
import { auditOf } from '../../support/log/entries.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { CHECKOUT } from '../../support/servers/test-run.js';

// A long body is scanned in a thread, and this server gets none.

let provider: ModelProvider;
let server: TestServer;

beforeAll(async () => {
  provider = await startModelProvider();
  const preload = `--require ${join(CHECKOUT, 'test/support/llm/no-threads.cjs')}`;
  server = await startServer({ env: { ...provider.env, NODE_OPTIONS: preload }, ownProcess: true });
});
afterAll(async () => {
  await server.stop();
  await provider.close();
});

const long = { model: 'gpt-test', messages: [{ role: 'user', content: 'many words '.repeat(20_000) }] };

test('a scan that comes to no end: 503, and nothing is sent and nothing begun', async () => {
  const agent = await anAgent(server).granted('llm:invoke').create();
  const before = await auditOf(server, agent.id);
  const wire = (await agent.client.post('/api/v1/llm/chat/completions', long)).expect(503);
  expect(wire.at('error.code')).toBe('UNAVAILABLE');
  expect(wire.headers.get('retry-after')).toBe('1');
  (await agent.client.post('/api/v1/llm/chat', long)).expect(503, 'UNAVAILABLE');
  (await agent.client.post('/api/v1/llm/messages', { ...long, model: 'claude-test', max_tokens: 9 })).expect(503);
  expect(provider.requests).toHaveLength(0);
  expect(await auditOf(server, agent.id)).toEqual(before);
  // What is short, or goes without the scan, goes on.
  (await agent.client.post('/api/v1/llm/chat', { ...long, messages: [{ role: 'user', content: 'short' }] })).expect(200);
  (await agent.client.post('/api/v1/llm/chat/completions', long, { headers: { 'x-scan-pii': 'false' } })).expect(200);
});

test('an answer that cannot be scanned is handed on to nobody, and what it cost is recorded', async () => {
  const agent = await anAgent(server).granted('llm:invoke').create();
  provider.script((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const content = 'many words, 4111 1111 1111 1111 and more '.repeat(40_000);
    response.end(JSON.stringify({ choices: [{ index: 0, message: { content } }], usage: { prompt_tokens: 3, completion_tokens: 5 } }));
  });
  const reply = await agent.client.post('/api/v1/llm/chat/completions', { model: 'gpt-test', messages: [{ role: 'user', content: 'x' }] });
  expect(reply.expect(503).at('error.code')).toBe('UNAVAILABLE');
  const entries = await auditOf(server, agent.id);
  expect(entries.slice(-2)).toMatchObject([
    { event: 'llm.request', metadata: { brokenOff: true, completionTokens: 5 } }, { event: 'execution.failed' },
  ]);
});
