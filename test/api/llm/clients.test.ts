import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { anAgent, anAgentKey } from '../../support/builders/agents.js';
import { startModelProvider, type ModelProvider } from '../../support/llm/model-provider.js';
import type { ModelAnswer, ModelRequest } from '../../support/llm/seen-call.js';
import { refuses, says } from '../../support/llm/vendor-answers.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

// Each case runs twice: the vendor's client asks the provider, and the same client, of which one address and one key are changed, asks the
// gateway. What it returns or throws, and what the provider got, must be the same.

let provider: ModelProvider;
let server: TestServer;
let key: string;

beforeAll(async () => {
  provider = await startModelProvider();
  server = await startServer({ env: provider.env });
  const agent = await anAgent(server).granted('llm:invoke').create();
  key = (await anAgentKey(server, agent)).secret;
});
afterAll(async () => {
  await server.stop();
  await provider.close();
});

interface Case<Client> {
  readonly answers: readonly ModelAnswer[];
  readonly run: (client: Client) => Promise<unknown>;
}

const openaiAt = (baseURL: string, apiKey: string) => new OpenAI({ baseURL, apiKey, maxRetries: 1 });
const anthropicAt = (baseURL: string, apiKey: string) => new Anthropic({ baseURL, apiKey, maxRetries: 1 });

async function outcome<Client>({ answers, run }: Case<Client>, client: Client): Promise<{ came: unknown; got: ModelRequest[] }> {
  const before = provider.requests.length;
  provider.script(...answers);
  const came = await run(client).catch(shownError);
  return { came: JSON.parse(JSON.stringify(came)) as unknown, got: provider.requests.slice(before) };
}

function shownError(error: unknown): object {
  const thrown = error as InstanceType<typeof OpenAI.APIError>;
  const { constructor, status, message, type, code, param, error: body } = thrown;
  const { request_id: _, ...rest } = (body ?? {}) as Record<string, unknown>;
  // The vendor's client puts the whole body into the message, and in it the id of the request.
  const said = message.replace(/,?"request_id":"[^"]*"/, '');
  return { thrown: constructor.name, status, message: said, type, code, param, body: rest };
}

const bodiesOf = (got: readonly ModelRequest[]) =>
  got.map(({ method, path, body: { stream_options: _, ...body } }) => ({ method, path, body }));

async function sameBothWays<Client>(one: Case<Client>, direct: Client, through: Client): Promise<unknown> {
  const wanted = await outcome(one, direct);
  const seen = await outcome(one, through);
  expect(seen.came).toEqual(wanted.came);
  expect(bodiesOf(seen.got)).toEqual(bodiesOf(wanted.got));
  return seen.came;
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const user = [{ role: 'user' as const, content: 'Good morning' }];
const said = says({ text: 'Good morning to you, and to all of yours' });
const TOOLS = { weather: { city: 'Oslo', days: 2 }, clock: { zone: 'Europe/Oslo' } };
const twoTools = says({ text: 'Let me see', tools: TOOLS });
const schema = { type: 'object' as const, properties: { city: { type: 'string' } } };
/** With a blank that no serializer would write. */
const OSLO = '{"city": "Oslo"}';
const PERSON = '{"name":"nobody","age":7}';

describe('openai', () => {
  const ask = { model: 'gpt-test', messages: user };
  const tools = Object.keys(TOOLS).map((name) =>
    ({ type: 'function' as const, function: { name, description: `the ${name}`, parameters: schema } }));
  const cases: Readonly<Record<string, Case<OpenAI>>> = {
    'a completion': { answers: [said], run: (client) => client.chat.completions.create({ ...ask, temperature: 0.5, seed: 42 }) },
    'members that nobody knows': {
      answers: [said],
      run: (client) => client.chat.completions.create({ ...ask, thinking_budget: { high: true } } as typeof ask),
    },
    'parallel tools': {
      answers: [twoTools],
      run: (client) => client.chat.completions.create({ ...ask, tools, parallel_tool_calls: true }),
    },
    'the results of tools': {
      answers: [said],
      run: (client) => client.chat.completions.create({
        ...ask, tools, messages: [
          ...user,
          { role: 'assistant', tool_calls: [{ id: 'call_0', type: 'function', function: { name: 'weather', arguments: OSLO } }] },
          { role: 'tool', tool_call_id: 'call_0', content: '{"degrees": -3}' },
        ],
      }),
    },
    'a stream': { answers: [said], run: async (client) => all(await client.chat.completions.create({ ...ask, stream: true })) },
    'a stream with usage': {
      answers: [said],
      run: async (client) => all(await client.chat.completions.create({ ...ask, stream: true, stream_options: { include_usage: true } })),
    },
    'a stream of tools': {
      answers: [twoTools],
      run: async (client) => all(await client.chat.completions.create({ ...ask, tools, stream: true })),
    },
    'the helper of streams': { answers: [said], run: (client) => client.chat.completions.stream(ask).finalChatCompletion() },
    'the helper of tools': {
      answers: [says({ tools: { weather: { city: 'Oslo' } } }), said],
      run: (client) => client.chat.completions.runTools({
        ...ask, tools: [{
          type: 'function', function: { name: 'weather', parameters: schema, parse: JSON.parse, description: 'x', function: () => 'cold' },
        }],
      }).finalContent(),
    },
    'JSON by a schema': {
      answers: [says({ text: PERSON })],
      run: (client) => client.chat.completions.parse({
        ...ask, response_format: { type: 'json_schema', json_schema: { name: 'person', strict: true, schema } },
      }),
    },
    'JSON': {
      answers: [says({ text: PERSON })],
      run: (client) => client.chat.completions.create({ ...ask, response_format: { type: 'json_object' } }),
    },
    'several choices, and a bound': {
      answers: [said],
      run: (client) => client.chat.completions.create({ ...ask, n: 2, max_completion_tokens: 100 }),
    },
    ...Object.fromEntries([400, 404, 413, 422].map((status) =>
      [`${status}`, { answers: [refuses(status)], run: (client: OpenAI) => client.chat.completions.create(ask) }])),
    '400 of a stream': {
      answers: [refuses(400)],
      run: async (client) => all(await client.chat.completions.create({ ...ask, stream: true })),
    },
    'a provider that is busy once': {
      answers: [refuses(429, 'slow', { 'retry-after': '0' }), said],
      run: (client) => client.chat.completions.create(ask),
    },
    'a provider that is away once': {
      answers: [refuses(503, 'away', { 'retry-after': '0' }), said],
      run: (client) => client.chat.completions.create(ask),
    },
  };

  test.each(Object.entries(cases))('%s', async (_name, one) => {
    await sameBothWays(one, openaiAt(`${provider.url}/v1`, 'sk-direct'), openaiAt(`${server.url}/api/v1/llm`, key));
  });

  test('models: those of both vendors, and none that is no chat model', async () => {
    const listed = await all(openaiAt(`${server.url}/api/v1/llm`, key).models.list());
    expect(listed.map(({ id, object, owned_by: by }) => [id, object, by])).toEqual([
      ['gpt-test', 'model', 'openai'], ['claude-test', 'model', 'anthropic'],
    ]);
  });

  test('abort: the provider is told', async () => {
    provider.script(() => undefined);
    const controller = new AbortController();
    const before = provider.requests.length;
    const asked = openaiAt(`${server.url}/api/v1/llm`, key).chat.completions.create(ask, { signal: controller.signal });
    const thrown = asked.catch((error: unknown) => error);
    const got = (await provider.received(before + 1)).at(-1)!;
    controller.abort();
    expect(await thrown).toBeInstanceOf(OpenAI.APIUserAbortError);
    await got.over;
  });

  test('a wrong key throws what a wrong key throws', async () => {
    await expect(openaiAt(`${server.url}/api/v1/llm`, 'wrong').chat.completions.create(ask)).rejects.toMatchObject({
      constructor: OpenAI.AuthenticationError, status: 401, code: 'UNAUTHENTICATED',
    });
  });
});

describe('@anthropic-ai/sdk', () => {
  const ask = { model: 'claude-test', max_tokens: 64, messages: user };
  const tools = Object.keys(TOOLS).map((name) => ({ name, description: `the ${name}`, input_schema: schema }));
  const cases: Readonly<Record<string, Case<Anthropic>>> = {
    'a message': { answers: [said], run: (client) => client.messages.create({ ...ask, system: 'Be kind', stop_sequences: ['halt'] }) },
    'parallel tools': { answers: [twoTools], run: (client) => client.messages.create({ ...ask, tools }) },
    'the results of tools': {
      answers: [said],
      run: (client) => client.messages.create({
        ...ask, tools, messages: [
          ...user,
          { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'cold' }] },
        ],
      }),
    },
    'a stream': { answers: [said], run: async (client) => all(await client.messages.create({ ...ask, stream: true })) },
    'a stream of tools': { answers: [twoTools], run: async (client) => all(await client.messages.create({ ...ask, tools, stream: true })) },
    'the helper of streams': { answers: [twoTools], run: (client) => client.messages.stream({ ...ask, tools }).finalMessage() },
    'a count of tokens': { answers: [], run: (client) => client.messages.countTokens({ model: 'claude-test', messages: user, tools }) },
    ...Object.fromEntries([400, 404, 413, 422].map((status) =>
      [`${status}`, { answers: [refuses(status)], run: (client: Anthropic) => client.messages.create(ask) }])),
    '400 of a count': { answers: [refuses(400)], run: (client) => client.messages.countTokens({ model: 'claude-test', messages: user }) },
    'a provider that is overloaded once': {
      answers: [refuses(529, 'busy', { 'retry-after': '0' }), said],
      run: (client) => client.messages.create(ask),
    },
  };

  test.each(Object.entries(cases))('%s', async (_name, one) => {
    await sameBothWays(one, anthropicAt(provider.url, 'sk-direct'), anthropicAt(`${server.url}/api/v1/llm`, key));
  });

  test('the key may be a token of authorization, and beta features go along', async () => {
    const client = new Anthropic({ baseURL: `${server.url}/api/v1/llm`, authToken: key, apiKey: null });
    await client.beta.messages.create({ ...ask, betas: ['files-api-2025-04-14'] });
    expect(provider.last().headers).toMatchObject({ 'anthropic-beta': 'files-api-2025-04-14', 'anthropic-version': expect.any(String) });
  });

  test('models', async () => {
    const listed = await all(anthropicAt(`${server.url}/api/v1/llm`, key).models.list());
    const model = { id: 'claude-test', display_name: 'Claude Test', created_at: expect.any(String) };
    expect(listed).toContainEqual(expect.objectContaining(model));
  });

  test('abort of a stream: the provider is told', async () => {
    provider.script(says({ text: 'x'.repeat(500), everyMs: 20 }));
    const before = provider.requests.length;
    const stream = anthropicAt(`${server.url}/api/v1/llm`, key).messages.stream(ask);
    const ended = stream.done().catch((error: unknown) => error);
    await new Promise((resolve) => stream.once('text', resolve));
    stream.abort();
    expect(await ended).toBeInstanceOf(Anthropic.APIUserAbortError);
    await (await provider.received(before + 1)).at(-1)!.over;
  });
});
