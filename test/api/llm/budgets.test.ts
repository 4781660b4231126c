import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { anAgent, type BuiltAgent, type GrantTerms } from '../../support/builders/agents.js';
import { verification } from '../../support/erasure/erasures.js';
import { asAgent, asRoot } from '../../support/http/actors.js';
import { startModelProvider, type ModelProvider } from '../../support/llm/model-provider.js';
import { auditOf } from '../../support/log/entries.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const LLM = '/api/v1/llm';

let provider: ModelProvider;
let server: TestServer;
let replica: TestServer;

beforeAll(async () => {
  provider = await startModelProvider();
  server = await startServer({ env: provider.env });
  replica = await startServer({ replicaOf: server, env: provider.env });
});
afterAll(async () => {
  await replica.stop();
  await server.stop();
  await provider.close();
});

const caller = (terms: GrantTerms): Promise<BuiltAgent> => anAgent(server).granted('llm:invoke', terms).create();
const body = { model: 'gpt-test', messages: [{ role: 'user', content: 'Good morning' }], max_tokens: 97 };

test('64 parallel calls at two servers against a budget of 10: exactly 10 are made', async () => {
  // A call is reckoned at its texts, and at the most that it may answer.
  const first = await caller({});
  (await first.client.post(`${LLM}/chat/completions`, body)).expect(200);
  const [seen] = await server.sql<{ input: string }>('select input from executions where agent_id = $1', [first.id]);
  const tokens = (JSON.parse(seen!.input) as { tokens: number }).tokens + 97;
  const agent = await caller({ limits: [{ max: 10 * tokens, per: 'total', sum: 'input.tokens + input.maxTokens', then: 'block' }] });
  const before = provider.requests.length;
  const replies = await Promise.all(Array.from({ length: 64 }, (_, i) =>
    asAgent(i % 2 === 0 ? server : replica, agent.token).post(`${LLM}/${i % 4 < 2 ? 'chat/completions' : 'chat'}`, i % 4 < 2 ? body : {
      model: body.model, messages: body.messages, maxTokens: 97,
    })));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
  // A busy server may turn away: then nothing was made either.
  expect(replies.filter(({ status }) => status === 429 || status === 503)).toHaveLength(54);
  expect(provider.requests.length).toBe(before + 10);
});

test('what is left, and when there is room again, is told in either form', async () => {
  const agent = await caller({ limits: [{ max: 1, per: 'hour', then: 'block' }] });
  (await agent.client.post(`${LLM}/chat/completions`, body)).expect(200);
  const wire = (await agent.client.post(`${LLM}/chat/completions`, body)).expect(429);
  expect(wire.at('error')).toMatchObject({
    code: 'BUDGET_EXHAUSTED', type: 'rate_limit_error', executionId: expect.any(String),
    limits: [{ max: 1, per: 'hour', used: 1, left: 0 }],
  });
  expect(wire.headers.get('x-should-retry')).toBe('false');
  const after = Number(wire.headers.get('retry-after'));
  expect(after).toBeGreaterThan(3_000);
  expect(after).toBeLessThanOrEqual(3_600);
  (await agent.client.post(`${LLM}/chat`, { model: 'gpt-test', messages: body.messages })).expect(429, 'BUDGET_EXHAUSTED');
  const before = provider.requests.length;
  const count = await agent.client.post(`${LLM}/v1/messages/count_tokens`, { ...body, model: 'claude-test' });
  expect(count.expect(429).at('error')).toMatchObject({ code: 'BUDGET_EXHAUSTED', limits: [{ max: 1, per: 'hour', used: 1, left: 0 }] });
  expect([count.headers.get('x-should-retry'), Number(count.headers.get('retry-after')) > 3_000]).toEqual(['false', true]);
  expect(provider.requests.length).toBe(before);
  expect((await auditOf(server, agent.id)).at(-1)).toMatchObject({ event: 'execution.blocked' });
});

test('a block that is not by a limit alone stays a block', async () => {
  const limits = [{ max: 1, per: 'hour', then: 'block' }];
  const agent = await caller({ limits, conditions: [{ when: 'input.stream == false', hitlMode: 'block' }] });
  expect((await agent.client.post(`${LLM}/chat/completions`, body)).expect(403).at('error.code')).toBe('CAPABILITY_BLOCKED');
  const count = await agent.client.post(`${LLM}/v1/messages/count_tokens`, { ...body, model: 'claude-test' });
  expect(count.expect(403).at('error.code')).toBe('CAPABILITY_BLOCKED');
});

test('usage is added up by day, agent and model, and an agent sees its own', async () => {
  const [one, other] = [await caller({}), await caller({})];
  for (const agent of [one, one, other]) (await agent.client.post(`${LLM}/chat/completions`, body)).expect(200);
  const day = new Date().toISOString().slice(0, 10);
  const used = { day, agentId: one.id, model: 'gpt-test', calls: 2, failed: 0, promptTokens: 22, completionTokens: 14 };
  expect((await one.client.get(`${LLM}/usage`)).expect(200).at('usage')).toEqual([used]);
  const all = (await asRoot(server).get(`${LLM}/usage`, { query: { from: day } })).expect(200).list('usage');
  expect(all).toContainEqual(used);
  expect(all).toContainEqual({ ...used, agentId: other.id, calls: 1, promptTokens: 11, completionTokens: 7 });
  expect((await asRoot(server).get(`${LLM}/usage`, { query: { agentId: other.id } })).list('usage')).toHaveLength(1);
  for (const query of [{ from: '2026-02-02', to: '2026-02-01' }, { from: '2025-01-01', to: '2026-01-01' }, { from: 'yesterday' }]) {
    (await asRoot(server).get(`${LLM}/usage`, { query: query as Record<string, string> })).expect(400, 'VALIDATION_FAILED');
  }
});

test('a count that was changed below the service is named by verification', async () => {
  const agent = await caller({});
  (await agent.client.post(`${LLM}/chat/completions`, body)).expect(200);
  expect(await verification(server)).toMatchObject({ valid: true });
  const [{ id }] = await server.sql<{ id: string }>('select id from executions where agent_id = $1', [agent.id]) as [{ id: string }];
  await server.sql(`update executions set output = replace(output, '"promptTokens":11', '"promptTokens":1') where id = $1`, [id]);
  expect(await verification(server)).toMatchObject({ valid: false, breaks: [{ detail: expect.stringContaining(id) }] });
});
