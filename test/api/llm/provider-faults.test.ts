import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { executionBecomes } from '../../support/builders/gate.js';
import { OPENAI_KEY, startModelProvider, type ModelProvider } from '../../support/llm/model-provider.js';
import type { ModelAnswer } from '../../support/llm/seen-call.js';
import { json, refuses } from '../../support/llm/vendor-answers.js';
import { auditOf } from '../../support/log/entries.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const LLM = '/api/v1/llm';
const SAID_BY_VENDOR = 'the vendor quotes the prompt here';

let provider: ModelProvider;
let server: TestServer;

beforeAll(async () => {
  provider = await startModelProvider();
  server = await startServer({ env: { ...provider.env, LLM_TIMEOUT: '2s' } });
});
afterAll(async () => {
  await server.stop();
  await provider.close();
});

const openai = { model: 'gpt-test', messages: [{ role: 'user', content: 'x' }] };
const anthropic = { ...openai, model: 'claude-test', max_tokens: 9 };
const caller = (): Promise<BuiltAgent> => anAgent(server).granted('llm:invoke').create();
const entriesOf = async ({ id }: BuiltAgent) => (await auditOf(server, id)).filter(({ event }) => /^(execution|llm)\./.test(event));

/** Reads a stream's text to its end. */
async function streamed(agent: BuiltAgent, path: string, body: object): Promise<{ status: number; text: string }> {
  const response = await fetch(`${server.url}${LLM}/${path}`, {
    method: 'POST', headers: { authorization: `Bearer ${agent.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, stream: true }),
  });
  return { status: response.status, text: await response.text() };
}

const raw = (bytes: string | Buffer, type = 'application/json'): ModelAnswer => (_request, response) => {
  response.writeHead(200, { 'content-type': type });
  response.end(bytes);
};
const cutAfter = (...parts: string[]): ModelAnswer => async (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const part of parts) await new Promise((resolve) => response.write(part, resolve));
  response.destroy();
};
const reset: ModelAnswer = (_request, response) => void response.socket?.resetAndDestroy();
const CHUNK = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'half' }, finish_reason: null }] })}\n\n`;

describe('a provider that does not answer as it should', () => {
  test.each<[string, ModelAnswer, number, string]>([
    ['401', refuses(401, SAID_BY_VENDOR), 502, 'PROVIDER_ERROR'],
    ['403', refuses(403, SAID_BY_VENDOR), 502, 'PROVIDER_ERROR'],
    ['500', refuses(500, SAID_BY_VENDOR), 502, 'PROVIDER_ERROR'],
    ['no JSON', raw('<html>'), 502, 'PROVIDER_ERROR'],
    ['JSON that is no object', raw('[1]'), 502, 'PROVIDER_ERROR'],
    ['no UTF-8', raw(Buffer.from([0x7b, 0xff, 0x7d])), 502, 'PROVIDER_ERROR'],
    ['a connection that breaks', reset, 502, 'PROVIDER_ERROR'],
    ['more than 16 MiB', raw(`{"text":"${'x'.repeat(17 * 1024 * 1024)}"}`), 502, 'PROVIDER_ERROR'],
    ['nothing at all', () => undefined, 504, 'PROVIDER_TIMEOUT'],
    ['a redirect', (_request, response) => json(response, 302, {}, { location: 'http://127.0.0.1:1/' }), 502, 'PROVIDER_ERROR'],
  ])('%s: %s, and nothing of what it said', async (_what, answer, status, code) => {
    const agent = await caller();
    const before = provider.requests.length;
    provider.script(answer);
    const reply = (await agent.client.post(`${LLM}/chat/completions`, openai)).expect(status);
    expect(reply.at('error.code')).toBe(code);
    expect(JSON.stringify(reply.body)).not.toContain(SAID_BY_VENDOR);
    expect(provider.requests.length).toBe(before + 1);
    const entries = await entriesOf(agent);
    expect(entries.map(({ event }) => event)).toEqual(['execution.started', 'llm.provider_error', 'execution.failed']);
    expect(entries[1]!.metadata).toMatchObject({ error: { code }, provider: 'openai' });
    expect(JSON.stringify(entries)).not.toContain(SAID_BY_VENDOR);
    if (status === 504) await provider.last().over;
  });

  test('what is wrong with the call goes to its sender: on /chat as a failure of the provider', async () => {
    const agent = await caller();
    provider.script(refuses(400, 'm'.repeat(2_000)), refuses(400));
    const reply = (await agent.client.post(`${LLM}/chat/completions`, openai)).expect(400);
    expect(reply.text('error.message')).toBe('m'.repeat(1_000));
    (await agent.client.post(`${LLM}/chat`, openai)).expect(502, 'PROVIDER_ERROR');
    provider.script(refuses(400, `no such key: ${OPENAI_KEY}`));
    expect((await agent.client.post(`${LLM}/chat/completions`, openai)).expect(400).text('error.message')).toBe('no such key: …');
    expect(JSON.stringify(await entriesOf(agent))).not.toContain('mmmm');
    // It may quote what it was sent, where the scan was left out too.
    const quoted = 'no such user: ada.lovelace@analytical.example';
    for (const [path, body] of [['chat/completions', openai], ['messages', anthropic], ['v1/messages/count_tokens', anthropic]] as const) {
      provider.script(refuses(400, quoted));
      const passed = await agent.client.post(`${LLM}/${path}`, body, { headers: { 'x-scan-pii': 'false' } });
      expect(passed.expect(400).text('error.message')).toBe('no such user: <EMAIL_ADDRESS>');
    }
    expect(server.output()).not.toContain('lovelace');
  });

  test('one that is busy is asked three times in all, and then it is an error', async () => {
    const agent = await caller();
    const before = provider.requests.length;
    const busy = refuses(429, SAID_BY_VENDOR, { 'retry-after': '0' });
    provider.script(busy, busy, busy);
    (await agent.client.post(`${LLM}/chat`, openai)).expect(502, 'PROVIDER_ERROR');
    expect(provider.requests.length).toBe(before + 3);
  });
});

describe('a stream that does not end as it should', () => {
  test.each<[string, string, object, ModelAnswer, RegExp]>([
    ['cut', 'chat/completions', openai, cutAfter(CHUNK), /half.*\n\ndata: \{"error":\{.*"code":"PROVIDER_ERROR"\}\}\n\n$/s],
    ['cut', 'messages', anthropic, cutAfter('event: ping\ndata: {"type":"ping"}\n\n'),
      /ping.*event: error\ndata: \{"type":"error",.*PROVIDER_ERROR/s],
    ['with an error in it', 'chat/completions', openai, cutAfter(CHUNK, `data: {"error":{"message":"${SAID_BY_VENDOR}"}}\n\n`),
      /half.*PROVIDER_ERROR/s],
    ['with an error in it', 'messages', anthropic,
      cutAfter('event: ping\ndata: {"type":"ping"}\n\n',
        `event: error\ndata: {"type":"error","error":{"message":"${SAID_BY_VENDOR}"}}\n\n`), /PROVIDER_ERROR/],
    ['that is no JSON', 'chat/completions', openai, cutAfter(CHUNK, 'data: {x}\n\n'), /half.*PROVIDER_ERROR/s],
    ['with a line over 1 MiB', 'chat/completions', openai, cutAfter(CHUNK, `data: ${'x'.repeat(1_200_000)}`), /half.*PROVIDER_ERROR/s],
    ['that drips', 'chat/completions', openai, async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let i = 0; i < 60 && !response.destroyed; i++) {
        response.write(i === 0 ? CHUNK : ': \n');
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }, /half.*PROVIDER_ERROR/s],
  ])('%s: %s ends with the error of its vendor', async (_what, path, body, answer, form) => {
    const agent = await caller();
    provider.script(answer);
    const { status, text } = await streamed(agent, path, body);
    expect(status).toBe(200);
    expect(text).toMatch(form);
    expect(text).not.toContain(SAID_BY_VENDOR);
    expect(text).not.toContain('[DONE]');
    const entries = await entriesOf(agent);
    expect(entries.map(({ event }) => event)).toEqual(['execution.started', 'llm.provider_error', 'execution.failed']);
  });

  test('before anything came: a status, not a stream', async () => {
    provider.script((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end();
    });
    const { status, text } = await streamed(await caller(), 'chat/completions', openai);
    expect([status, text]).toEqual([502, expect.stringContaining('PROVIDER_ERROR')]);
  });
});

describe('a call that breaks off', () => {
  test.each<[string, string, object, boolean]>([
    ['a stream', 'chat/completions', openai, true], ['a whole answer', 'chat/completions', openai, false],
    ['a stream', 'messages', anthropic, true], ['a whole answer', 'messages', anthropic, false], ['a whole answer', 'chat', openai, false],
  ])('because its client has gone, while it waits for %s of %s: the model is told to stop', async (_what, path, body, stream) => {
    const agent = await caller();
    const before = provider.requests.length;
    let wasWhole: Promise<boolean> | undefined;
    // Never comes to its end by itself.
    provider.script((_request, response) => {
      wasWhole = new Promise((resolve) => response.once('close', () => resolve(response.writableFinished)));
      if (!stream) return;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write((path === 'messages' ? 'event: ping\ndata: {"type":"ping"}\n\n' : CHUNK).repeat(3));
    });
    const controller = new AbortController();
    const call = fetch(`${server.url}${LLM}/${path}`, {
      method: 'POST', headers: { authorization: `Bearer ${agent.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(stream ? { ...body, stream } : body), signal: controller.signal,
    });
    // Half of a stream has come, or the model is at work.
    if (stream) await (await call).body!.getReader().read();
    else await provider.received(before + 1);
    controller.abort();
    await call.catch(() => undefined);
    expect(await wasWhole).toBe(false);
    const entries = await eventually(async () => {
      const found = await entriesOf(agent);
      expect(found.map(({ event }) => event)).toEqual(['execution.started', 'llm.request', 'execution.failed']);
      return found;
    });
    expect(entries[1]!.metadata).toMatchObject({ brokenOff: true, completionTokens: stream ? 3 : 0 });
    expect(entries[1]!.metadata.promptTokens).toBeGreaterThan(0);
    const execution = await executionBecomes(server, entries[0]!.metadata.executionId as string, 'failed');
    // A server that had waited for the model would have ended it by its own time, as PROVIDER_TIMEOUT.
    expect(execution.error).toMatchObject({ code: 'CLIENT_CLOSED' });
    expect((await agent.client.get(`${LLM}/usage`)).list('usage')).toMatchObject([
      { calls: 1, failed: 1, completionTokens: stream ? 3 : 0 },
    ]);
  });

  test.each([
    ['chat/completions', openai, 'data: {"error":{"message":"overloaded"}}\n\n'], ['chat/completions', openai, 'data: [1]\n\n'],
    ['messages', anthropic, 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n'],
  ])('because the only event of a stream of %s is a fault: the server serves on', async (path, body, event) => {
    const agent = await caller();
    for (let times = 0; times < 5; times++) {
      provider.script(raw(event, 'text/event-stream'));
      expect(await streamed(agent, path, body)).toMatchObject({ text: expect.stringContaining('PROVIDER_ERROR') });
    }
    await server.assertAlive();
    expect((await entriesOf(agent)).map(({ event: name }) => name).filter((name) => name === 'execution.failed')).toHaveLength(5);
  });

  test('because its server was killed: recovery fails it, with SERVER_ENDED', async () => {
    const agent = await caller();
    const before = provider.requests.length;
    provider.script(() => undefined);
    agent.client.post(`${LLM}/chat/completions`, openai).catch(() => undefined);
    await provider.received(before + 1);
    await server.kill();
    await server.restart();
    await server.sql(`update executions set lease_until = clock_timestamp() - interval '1 second' where status = 'running'`);
    const [{ id }] = await server.sql<{ id: string }>('select id from executions where agent_id = $1', [agent.id]) as [{ id: string }];
    expect(await executionBecomes(server, id, 'failed')).toMatchObject({ error: { code: 'SERVER_ENDED' } });
    const entries = await entriesOf(agent);
    expect(entries.map(({ event }) => event)).toEqual(['execution.started', 'llm.request', 'execution.failed']);
    expect(entries[1]!.metadata).toMatchObject({ brokenOff: true, model: 'gpt-test', provider: 'openai', executionId: id,
      promptTokens: expect.any(Number) });
  });
});

test('a provider that fails again and again is not asked for a while', async () => {
  const agent = await caller();
  provider.standing(refuses(500));
  for (let i = 0; i < 5; i++) await agent.client.post(`${LLM}/chat`, anthropic);
  const before = provider.requests.length;
  (await agent.client.post(`${LLM}/chat`, anthropic)).expect(502, 'PROVIDER_ERROR');
  expect(provider.requests.length).toBe(before);
});
