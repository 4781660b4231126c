import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anAgent, anAgentKey, type BuiltAgent, type GrantTerms } from '../../support/builders/agents.js';
import { executionOf } from '../../support/builders/gate.js';
import { columnsWith, verification } from '../../support/erasure/erasures.js';
import { anonymous, asRoot, type Client } from '../../support/http/actors.js';
import { ANTHROPIC_KEY, OPENAI_KEY, startModelProvider, type ModelProvider } from '../../support/llm/model-provider.js';
import { auditOf } from '../../support/log/entries.js';
import { says } from '../../support/llm/vendor-answers.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const LLM = '/api/v1/llm';
const PROMPT = 'what weighs a cubic metre of heron feathers';
const ANSWER = 'about eleven stone of plumage';

let provider: ModelProvider;
let server: TestServer;
let root: Client;

beforeAll(async () => {
  provider = await startModelProvider();
  provider.standing(says({ text: ANSWER }));
  server = await startServer({ env: provider.env });
  root = asRoot(server);
});
afterAll(async () => {
  expect(await verification(server)).toMatchObject({ valid: true, breaks: [] });
  await server.stop();
  await provider.close();
});

const caller = (terms: GrantTerms = {}): Promise<BuiltAgent> => anAgent(server).granted('llm:invoke', terms).create();
const messages = [{ role: 'user', content: PROMPT }];
const openai = { model: 'gpt-test', messages };
const anthropic = { model: 'claude-test', max_tokens: 64, messages };
const entriesOf = async ({ id }: BuiltAgent) => (await auditOf(server, id)).filter(({ event }) => /^(execution|llm)\./.test(event));

describe('a call', () => {
  test.each([
    ['chat/completions', openai, { choices: [{ message: { content: ANSWER } }] }, 'openai'],
    ['messages', anthropic, { content: [{ type: 'text', text: ANSWER }] }, 'anthropic'],
    ['v1/messages', anthropic, { content: [{ type: 'text', text: ANSWER }] }, 'anthropic'],
    ['chat', { model: 'gpt-test', messages }, { content: ANSWER, usage: { promptTokens: 11, completionTokens: 7 }, piiDetected: false },
      'openai'],
    ['chat', { model: 'claude-test', messages }, { content: ANSWER, model: 'claude-test', piiRedacted: false }, 'anthropic'],
  ])('%s of %j passes the gate and the log, and leaves neither prompt nor answer there', async (path, body, answer, name) => {
    const agent = await caller();
    const reply = (await agent.client.post(`${LLM}/${path}`, body)).expect(200);
    expect(reply.body).toMatchObject(answer);
    expect(reply.headers.get('x-pii-detected')).toBe('false');
    expect(reply.headers.get('request-id')).toBe(reply.headers.get('x-request-id'));
    const { headers } = provider.last();
    expect(headers).toMatchObject(name === 'openai' ? { authorization: `Bearer ${OPENAI_KEY}` } : { 'x-api-key': ANTHROPIC_KEY });
    const entries = await entriesOf(agent);
    expect(entries.map(({ event }) => event)).toEqual(['execution.started', 'llm.request', 'execution.completed']);
    const executionId = entries[0]!.metadata.executionId as string;
    const execution = await executionOf(server, executionId);
    expect(execution).toMatchObject({
      status: 'executed', runtime: 'llm', capability: 'llm:invoke',
      output: { usage: { promptTokens: 11, completionTokens: 7 } },
      input: { model: body.model, provider: name, stream: false, tools: 0, pii: [] },
    });
    expect(entries[1]!.metadata).toMatchObject({
      executionId, model: body.model, provider: name, promptTokens: 11, completionTokens: 7,
      digest: (execution.input as Record<string, unknown>).digest,
    });
    expect(await columnsWith(server, 'heron feathers')).toEqual([]);
    expect(await columnsWith(server, 'plumage')).toEqual([]);
  });

  test('takes two commits', async () => {
    const agent = await caller();
    await agent.client.post(`${LLM}/chat/completions`, openai);
    const rows = await server.sql<{ commits: number }>(
      'select count(distinct xmin::text)::integer as commits from audit_entries where agent_id = $1 and event ~ $2',
      [agent.id, '^(execution|llm)']);
    expect(rows).toEqual([{ commits: 2 }]);
  });
});

describe('who calls', () => {
  test('is an agent by key or token, as Bearer or x-api-key; root, for nobody or for an agent', async () => {
    const agent = await caller();
    const { secret } = await anAgentKey(server, agent);
    for (const key of [secret, agent.token]) {
      (await anonymous(server).post(`${LLM}/messages`, anthropic, { headers: { 'x-api-key': key } })).expect(200);
      (await anonymous(server).post(`${LLM}/messages`, anthropic, { headers: { authorization: `Bearer ${key}` } })).expect(200);
    }
    expect((await anonymous(server).get('/api/v1/agents', { headers: { 'x-api-key': secret } })).status).toBe(401);
    const before = (await auditOf(server, agent.id)).length;
    (await root.post(`${LLM}/chat`, openai)).expect(200);
    expect((await auditOf(server, agent.id)).length).toBe(before);
    (await root.post(`${LLM}/chat`, { ...openai, agentId: agent.id })).expect(200);
    expect((await auditOf(server, agent.id)).slice(before).map(({ event }) => event)).toEqual(['llm.request']);
  });

  test.each([
    ['chat/completions', openai,
      { error: { code: 'UNAUTHENTICATED', type: 'authentication_error', message: expect.any(String), param: null } }],
    ['v1/messages', anthropic, { type: 'error', error: { code: 'UNAUTHENTICATED', type: 'authentication_error' } }],
    ['chat', openai, { code: 'UNAUTHENTICATED' }],
  ])('hears of %s in the form of its client', async (path, body, form) => {
    expect((await anonymous(server).post(`${LLM}/${path}`, body)).expect(401).body).toMatchObject(form);
  });

  test.each<['get' | 'post', string, Record<string, string>, number, object]>([
    ['post', 'embeddings', {}, 404, { error: { code: 'NOT_FOUND', type: 'not_found_error', param: null } }],
    ['post', 'v1/chat/completions', {}, 404, { error: { code: 'NOT_FOUND', type: 'not_found_error', param: null } }],
    ['post', 'v1/messages/batches', {}, 404, { type: 'error', error: { code: 'NOT_FOUND', type: 'not_found_error' } }],
    ['post', 'v1/files', { 'anthropic-version': '2023-06-01' }, 404, { type: 'error', error: { code: 'NOT_FOUND' } }],
    ['get', 'chat/completions', {}, 405, { error: { code: 'METHOD_NOT_ALLOWED', type: 'invalid_request_error', param: null } }],
    ['get', 'v1/messages', {}, 405, { type: 'error', error: { code: 'METHOD_NOT_ALLOWED', type: 'invalid_request_error' } }],
    ['get', 'chat', {}, 405, { code: 'METHOD_NOT_ALLOWED' }],
  ])('%s %s, which is no route here: %j %s', async (method, path, headers, status, form) => {
    const agent = await caller();
    const reply = await agent.client.with(headers)[method](`${LLM}/${path}`);
    expect(reply.expect(status).body).toMatchObject(form);
  });

  test('without a grant is refused as the gate refuses', async () => {
    const agent = await anAgent(server).create();
    const reply = await agent.client.post(`${LLM}/chat/completions`, openai);
    expect(reply.expect(403).at('error.code')).toBe('CAPABILITY_NOT_GRANTED');
    (await agent.client.post(`${LLM}/chat`, openai)).expect(403, 'CAPABILITY_NOT_GRANTED');
  });

  test('what a grant blocks is blocked', async () => {
    const agent = await caller({ conditions: [{ when: 'input.model == "gpt-test"', hitlMode: 'block' }] });
    expect((await agent.client.post(`${LLM}/chat/completions`, openai)).expect(403).at('error.code')).toBe('CAPABILITY_BLOCKED');
    (await agent.client.post(`${LLM}/messages`, anthropic)).expect(200);
  });
});
