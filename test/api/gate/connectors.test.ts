import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { asRoot, type Reply } from '../../support/http/actors.js';
import { auditOf } from '../../support/log/entries.js';
import { anAgent, type BuiltAgent } from '../../support/builders/agents.js';
import { defineCapability, executionOf } from '../../support/builders/gate.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { freePort } from '../../support/servers/server-process.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { keepEvents, keptEvents } from '../../support/notifications/kept-events.js';

let server: TestServer;
let receiver: Receiver;
let names = 0;

beforeEach(async () => {
  receiver = await startReceiver();
});

afterEach(() => receiver.close());

/** An agent that holds, as auto, a capability of its own with this connector. */
async function holderOf(on: TestServer, connector: Readonly<Record<string,
  unknown>>): Promise<BuiltAgent & { capability: string }> {
  const capability = `crm.call-${++names}`;
  await defineCapability(on, capability,
    { connector: { type: 'http', method: 'POST', url: `${receiver.url}/hook`, ...connector } });
  return { ...(await anAgent(on).granted(capability).create()), capability };
}

const call = (agent: BuiltAgent & { capability: string }, input: unknown = {}): Promise<Reply> =>
  agent.client.post('/api/v1/execute', { capability: agent.capability, input });

describe('the http connector', () => {
  beforeAll(async () => {
    server = await startServer();
    await keepEvents(server);
  });

  afterAll(() => server.stop());

  test('sends exactly the bytes that the templates make of the input', async () => {
    const agent = await holderOf(server, {
      method: 'PUT',
      url: `${receiver.url}/c/{input.id}/n?fixed=1&q={input.q}`,
      query: { page: '{input.page}', flag: true },
      headers: { 'X-Page': 'p-{input.page}' },
      body: { whole: '{input.deep}', text: 'for {input.id}', all: '{input}', list: ['{input.page}', null, 7] },
    });
    const input = { id: 'a/ü?', q: '1&2=3', page: 4, deep: { b: [1, { c: 'x' }], n: null } };
    const reply = (await call(agent, input)).expect(200);
    expect(reply.body).toMatchObject({ status: 'executed', output: { ok: true }, durationMs: expect.any(Number) });
    const [seen] = receiver.requests;
    expect(seen!.method).toBe('PUT');
    expect(seen!.path).toBe('/c/a%2F%C3%BC%3F/n?fixed=1&q=1%262%3D3&page=4&flag=true');
    expect(JSON.parse(seen!.body)).toEqual({ whole: input.deep, text: 'for a/ü?', all: input, list: [4, null, 7] });
    expect(seen!.headers).toMatchObject({
      'content-type': 'application/json', accept: 'application/json',
      'idempotency-key': reply.text('executionId'), host: receiver.destination, 'x-page': 'p-4',
    });
    expect(seen!.headers['content-length']).toBe(String(Buffer.byteLength(seen!.body)));
    expect(seen!.headers['authorization']).toBeUndefined();
  });

  test('a header template is filled, and what is no ASCII is refused', async () => {
    const agent = await holderOf(server, { headers: { 'X-Customer': 'c-{input.id}' } });
    (await call(agent, { id: 'plain' })).expect(200);
    expect(receiver.requests[0]!.headers['x-customer']).toBe('c-plain');
    (await call(agent, { id: 'a\r\nX-More: 1' })).expect(422, 'INVALID_INPUT');
    (await call(agent, { id: 'ü' })).expect(422, 'INVALID_INPUT');
    expect(receiver.requests).toHaveLength(1);
  });

  test('fills in one pass: a value that looks like a placeholder stays a value', async () => {
    const agent = await holderOf(server, { body: { a: '{input.a}', b: 'b {input.a}' } });
    (await call(agent, { a: '{input.secret}', secret: 's3' })).expect(200);
    expect(JSON.parse(receiver.requests[0]!.body)).toEqual({ a: '{input.secret}', b: 'b {input.secret}' });
  });

  test('members that the language knows are not reached', async () => {
    const agent = await holderOf(server, { body: { a: '{input.constructor}' } });
    (await call(agent, {})).expect(422, 'INVALID_INPUT');
    expect(receiver.requests).toHaveLength(0);
  });

  test("the caller's trace goes along", async () => {
    const agent = await holderOf(server, {});
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await agent.client.with({ traceparent }).post('/api/v1/execute', { capability: agent.capability });
    expect(receiver.requests[0]!.headers['traceparent']).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-/);
  });

  test.each([200, 201, 204, 299])('%i is executed', async (status) => {
    receiver.standing({ status });
    const agent = await holderOf(server, {});
    expect((await call(agent)).expect(200).body).toMatchObject({ status: 'executed', output: null });
  });

  test.each([400, 404, 409, 500, 503])('%i is failed, once, and closed so', async (status) => {
    receiver.standing({ status, body: { why: 'no' } });
    const agent = await holderOf(server, {});
    const reply = (await call(agent)).expect(200);
    expect(reply.body).toMatchObject({ status: 'failed',
      error: { code: 'CONNECTOR_STATUS', message: expect.stringContaining(String(status)) } });
    expect(receiver.requests).toHaveLength(1);
    expect(await executionOf(server, reply.text('executionId'))).toMatchObject({
      status: 'failed', error: { code: 'CONNECTOR_STATUS' }, auditId: reply.text('auditId'), runtime: 'connector',
    });
    const closing = (await auditOf(server, agent.id)).at(-1)!;
    expect(closing).toMatchObject({
      id: reply.text('auditId'), event: 'execution.failed', outcome: 'failure', metadata: { error: { code: 'CONNECTOR_STATUS' } },
    });
    expect(closing.metadata['outcome']).toBeUndefined();
  });

  test('a redirect is not followed', async () => {
    const elsewhere = await startReceiver();
    try {
      receiver.standing({ status: 307, headers: { location: elsewhere.url } });
      const agent = await holderOf(server, {});
      expect((await call(agent)).body).toMatchObject({ status: 'failed', error: { code: 'CONNECTOR_STATUS' } });
      expect(elsewhere.requests).toHaveLength(0);
    } finally {
      await elsewhere.close();
    }
  });

  test('no connection at all is failed: nothing was sent', async () => {
    const agent = await holderOf(server, { url: `http://127.0.0.1:${await freePort()}/` });
    const reply = (await call(agent)).expect(200);
    expect(reply.body).toMatchObject({ status: 'failed', error: { code: 'CONNECTOR_UNREACHABLE' } });
    expect(await executionOf(server, reply.text('executionId'))).toMatchObject({ status: 'failed' });
  });

  test.each([
    ['silence after sending', { hang: 'before headers' }],
    ['a connection cut after sending', { reset: true }],
  ] as const)('%s is indeterminate: it may have acted, and is not repeated', async (_name, answer) => {
    receiver.standing(answer);
    const agent = await holderOf(server, { timeoutSeconds: 1 });
    const reply = (await call(agent)).expect(200);
    expect(reply.body).toMatchObject({ status: 'failed', error: { code: expect.stringMatching(/^CONNECTOR_/) } });
    expect(await executionOf(server, reply.text('executionId'))).toMatchObject({ status: 'indeterminate' });
    expect((await auditOf(server, agent.id)).at(-1)).toMatchObject({
      event: 'execution.failed', outcome: 'failure',
        metadata: { outcome: 'indeterminate', executionId: reply.text('executionId') },
    });
    expect(receiver.requests).toHaveLength(1);
    expect(await keptEvents(server, reply.text('executionId'))).toMatchObject([{ event: 'execution.indeterminate' }]);
  });

  test('an idempotent one is asked again with the same key until it answers', async () => {
    receiver.script({ status: 503 }, { reset: true }, { status: 429 });
    const agent = await holderOf(server, { idempotent: true, timeoutSeconds: 10 });
    const reply = (await call(agent, { n: 1 })).expect(200);
    expect(reply.body).toMatchObject({ status: 'executed' });
    expect(receiver.requests).toHaveLength(4);
    expect(new Set(receiver.requests.map(({ headers }) => headers['idempotency-key'])))
      .toEqual(new Set([reply.text('executionId')]));
    expect(new Set(receiver.requests.map(({ body }) => body)).size).toBe(1);
  });

  test('an idempotent one gives up at its deadline', async () => {
    receiver.standing({ status: 503 });
    const agent = await holderOf(server, { idempotent: true, timeoutSeconds: 1 });
    const began = performance.now();
    expect((await call(agent)).body).toMatchObject({ status: 'failed', error: { code: 'CONNECTOR_STATUS' } });
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(receiver.requests.length).toBeGreaterThan(1);
  });

  test('started is durable before the call goes out', async () => {
    const agent = await holderOf(server, {});
    let seen: string[] = [];
    let looked: Promise<void> | undefined;
    receiver.standing(() => {
      looked = auditOf(server, agent.id).then((entries) => void (seen = entries.map(({ event }) => event)));
      return { delayMs: 500, body: {} };
    });
    (await call(agent)).expect(200);
    await looked;
    expect(seen.at(-1)).toBe('execution.started');
  });

  test('the summary in the closing entry is the beginning of the canonical output', async () => {
    const output = { b: 'x'.repeat(1_500), a: 1 };
    receiver.standing({ body: output });
    const agent = await holderOf(server, {});
    expect((await call(agent)).at('output')).toEqual(output);
    const { metadata } = (await auditOf(server, agent.id)).at(-1)!;
    expect(metadata['outputSummary']).toBe(`{"a":1,"b":"${'x'.repeat(1_500)}"}`.slice(0, 1_000));
  });

  test('an output that cannot be kept as it is never fails the action', async () => {
    receiver.standing({ headers: { 'content-type': 'application/json' }, body: '{"a":1,"a":2,"n":1e999}' });
    const agent = await holderOf(server, {});
    const reply = (await call(agent)).expect(200);
    expect(reply.body).toMatchObject({ status: 'executed', output: { text: '{"a":1,"a":2,"n":1e999}' } });
  });

  test('an approved call is made with the approved bytes, once', async () => {
    const capability = `crm.call-${++names}`;
    await defineCapability(server, capability, {
      connector: { type: 'http', method: 'POST', url: `${receiver.url}/pay`, body: '{input}' },
    });
    const agent = await anAgent(server).granted(capability, { hitlMode: 'propose' }).create();
    const input = { z: 1, a: 'é', n: 1.5e3 };
    const asked = (await agent.client.post('/api/v1/execute', { capability, input })).expect(202);
    const reply = await asRoot(server).post(`/api/v1/hitl/${asked.text('hitlRequestId')}/approve`, {}, { query: { wait: 10 } });
    expect(reply.expect(200).at('request.execution')).toMatchObject({ status: 'executed', output: { ok: true } });
    expect(receiver.requests.map(({ body }) => JSON.parse(body) as unknown)).toEqual([input]);
    expect(receiver.requests[0]!.headers['idempotency-key']).toBe(asked.text('executionId'));
    const [approved, started, completed] = (await auditOf(server, agent.id)).slice(-3);
    expect([approved!.event, started!.event, completed!.event])
      .toEqual(['hitl.approved', 'execution.started', 'execution.completed']);
    expect(started!.metadata).toMatchObject({ hitlId: asked.text('hitlRequestId'), decisionId: approved!.id,
      runtime: 'connector' });
    expect(completed!.metadata).toMatchObject({
      executionId: asked.text('executionId'), hitlId: asked.text('hitlRequestId'), outputSummary: '{"ok":true}',
        durationMs: expect.any(Number),
    });
  });
});
