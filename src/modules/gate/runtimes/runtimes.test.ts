import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { checkConnector, type HttpConnector } from '../../../domain/gate/connector.js';
import type { JsonObject } from '../../../domain/json.js';
import { OutboundGuard } from '../../../platform/outbound/outbound-guard.js';
import { ConnectorRuntime } from './connector.runtime.js';
import { Deadline } from './deadline.js';
import { HttpConnectorRuntime } from './http-connector.runtime.js';
import type { RuntimeCall } from './runtime.js';
import { WebhookRuntime } from './webhook.runtime.js';

interface Receipt {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}
type Answer = (response: ServerResponse, receipt: Receipt) => void;

let server: Server;
let origin: string;
let receipts: Receipt[] = [];
let answers: Answer[] = [];

const json = (value: unknown, status = 200): Answer => (response) =>
  response.writeHead(status,
    { 'content-type': 'application/json' }).end(typeof value === 'string' ? value : JSON.stringify(value));
const raw = (body: string | Buffer, headers: Record<string, string> = {}, status = 200): Answer => (response) =>
  response.writeHead(status, headers).end(body);
const cutOff: Answer = (response) => response.destroy();
const silent: Answer = () => undefined;

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const receipt = { method: request.method!, url: request.url!, headers: request.headers, body };
      receipts.push(receipt);
      const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
      answer(response, receipt);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  receipts = [];
  answers = [json({ ok: true })];
});

function connector(parts: JsonObject = {}): HttpConnector {
  const check = checkConnector({ type: 'http', method: 'POST', url: `${origin}/pay/{input.id}`,
    body: { amount: '{input.amount}' }, ...parts });
  if (!check.ok) throw new Error(JSON.stringify(check.errors));
  return check.connector as HttpConnector;
}
function call(parts: Partial<RuntimeCall> = {}): RuntimeCall {
  return {
    executionId: 'exec_1', organizationId: 'org_1', agentId: 'agt_1', capability: 'finance.payment',
      inputText: '{"amount":10,"id":"p1"}',
    input: { amount: 10, id: 'p1' }, idempotencyKey: 'exec_1', fence: 1, deadline: Deadline.in(3_000), ...parts,
  };
}
const signal = new AbortController().signal;
const guard = new OutboundGuard({ production: false, allow: [] });
/** That of connectors, without a secret; the other types are tested over HTTP. */
function runtimeBy(by: OutboundGuard): ConnectorRuntime {
  const unused = { run: () => Promise.reject(new Error('not called here')) };
  const secrets = { open: async () => ({ ok: true, values: new Map<string, string>() }) as const };
  return new ConnectorRuntime(secrets, { http: new HttpConnectorRuntime(by, 5), mcp: unused, email: unused });
}
const runtime = runtimeBy(guard);
const run = (parts: JsonObject = {}, more: Partial<RuntimeCall> = {}) =>
  runtime.run(call({ connector: connector(parts), ...more }), signal);

async function closedOrigin(): Promise<string> {
  const free = createTcpServer();
  await new Promise<void>((done) => free.listen(0, '127.0.0.1', done));
  const { port } = free.address() as AddressInfo;
  await new Promise((done) => free.close(done));
  return `http://127.0.0.1:${port}`;
}

describe('the connector', () => {
  it('sends what was rendered, with the key and the trace, and gives the JSON back', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    expect(await run({ headers: { 'X-Api': 'v2' } }, { traceparent })).toEqual({ kind: 'executed', output: { ok: true } });
    expect(receipts).toMatchObject([
      { method: 'POST', url: '/pay/p1', body: '{"amount":10}',
        headers: { 'idempotency-key': 'exec_1', traceparent, 'x-api': 'v2', 'content-type': 'application/json' } },
    ]);
  });

  const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  it.each<[string, () => Answer, unknown]>([
    ['no body', () => raw('', {}, 204), null],
    ['a JSON scalar', () => json('7'), 7],
    ['JSON of a vendor', () => raw('{"a":1}', { 'content-type': 'application/vnd.x+json; charset=utf-8' }), { a: 1 }],
    ['text', () => raw('done', { 'content-type': 'text/plain' }), { text: 'done' }],
    ['a body without a type', () => raw('done'), { text: 'done' }],
    ['HTML', () => raw('<p>x</p>', { 'content-type': 'text/html' }), { text: '<p>x</p>' }],
    ['broken JSON', () => json('{"a":'), { text: '{"a":' }],
    ['a member given twice', () => json('{"a":1,"a":2}'), { text: '{"a":1,"a":2}' }],
    ['a number beyond the doubles', () => json('{"a":1e999}'), { text: '{"a":1e999}' }],
    ['an integer that would be rounded', () => json('{"a":12345678901234567890}'), { text: '{"a":12345678901234567890}' }],
    ['a lone surrogate', () => json('{"a":"\\ud800"}'), { text: '{"a":"\\ud800"}' }],
    ['NUL in JSON', () => json('{"a":"\\u0000"}'), { text: '{"a":"\\u0000"}' }],
    ['__proto__', () => json('{"__proto__":{"x":1}}'), { text: '{"__proto__":{"x":1}}' }],
    ['NUL in text', () => raw('a\u0000b'), { text: 'a\ufffdb' }],
    ['text that is not UTF-8', () => raw(Buffer.from([0x61, 0xff, 0x62])), { text: 'a\ufffdb' }],
    ['great depth', () => json('['.repeat(100) + ']'.repeat(100)), { text: '['.repeat(100) + ']'.repeat(100) }],
    ['an image', () => raw(bytes, { 'content-type': 'image/png' }), { omitted: 'a body of type image/png', bytes: 7, sha256 }],
    ['an encoded body', () => raw(bytes, { 'content-type': 'application/json', 'content-encoding': 'gzip' }),
      { omitted: 'a body encoded as gzip', bytes: 7, sha256 }],
    ['a long type, of which no part is shown', () => raw(bytes, { 'content-type': `x/${'y'.repeat(100)}` }),
      { omitted: 'a body of type (not shown)', bytes: 7, sha256 }],
  ])('takes %s', async (_name, answer, output) => {
    answers = [answer()];
    expect(await run()).toEqual({ kind: 'executed', output });
  });

  it('never gives an output of more than 256 KiB of JSON', async () => {
    answers = [raw('\u0001'.repeat(200_000))];
    const outcome = await run();
    expect(outcome).toMatchObject({ kind: 'executed', output: { omitted: 'more than 256 KiB', bytes: 200_000 } });
  });

  it.each([300, 301, 302, 304, 307, 400, 401, 403, 404, 409, 418, 422, 429, 500, 503])('%i is a failure, called once',
    async (status) => {
    answers = [(response) => response.writeHead(status, { location: `${origin}/elsewhere`,
      'content-type': 'application/json' }).end(status === 304 ? undefined : '{"why":"no"}')];
    expect(await run()).toEqual({
      kind: 'failed', error: { code: 'CONNECTOR_STATUS', message: `The receiver answered ${status}.` },
        ...(status === 304 ? {} : { output: { why: 'no' } }),
    });
    expect(receipts).toHaveLength(1);
  });

  it('does not know what came of a call that got no answer', async () => {
    answers = [silent];
    expect(await run({ timeoutSeconds: 1 })).toMatchObject({ kind: 'unknown', error: { code: 'CONNECTOR_TIMEOUT' } });
    answers = [cutOff];
    expect(await run()).toMatchObject({ kind: 'unknown', error: { code: 'CONNECTOR_CONNECTION_LOST' } });
    expect(receipts).toHaveLength(2);
  });

  it('does not call a 2xx a failure because its body is too large or cut off', async () => {
    answers = [raw('x'.repeat(2_000))];
    expect(await run({ maxBytes: 1_000 })).toMatchObject({ kind: 'unknown',
      error: { code: 'CONNECTOR_TOO_LARGE', message: expect.stringContaining('200') } });
    answers = [raw('x'.repeat(2_000), {}, 500)];
    expect(await run({ maxBytes: 1_000 })).toEqual({ kind: 'failed',
      error: { code: 'CONNECTOR_STATUS', message: 'The receiver answered 500.' } });
    answers = [(response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    }];
    expect(await run()).toMatchObject({ kind: 'unknown', error: { code: 'CONNECTOR_CONNECTION_LOST' } });
  });

  it('was not reached where nobody listens, where the guard refuses, and after the deadline', async () => {
    expect(await run({ url: `${await closedOrigin()}/` })).toMatchObject({ kind: 'unreachable',
      error: { code: 'CONNECTOR_UNREACHABLE' } });
    const guarded = runtimeBy(new OutboundGuard({ production: true, allow: [] }));
    expect(await guarded.run(call({ connector: connector() }), signal)).toMatchObject({ kind: 'unreachable' });
    expect(await run({}, { deadline: Deadline.in(-1) })).toMatchObject({ kind: 'unreachable' });
    expect(receipts).toHaveLength(0);
  });

  it('gives up at the deadline of the call, before its own', async () => {
    answers = [silent];
    const started = Date.now();
    expect(await run({ timeoutSeconds: 30 }, { deadline: Deadline.in(200) })).toMatchObject({ kind: 'unknown',
      error: { code: 'CONNECTOR_TIMEOUT' } });
    expect(Date.now() - started).toBeLessThan(20_000);
  });
});

describe('an idempotent connector', () => {
  it('is asked again with the same key, until it answers', async () => {
    answers = [json({}, 503), cutOff, json({}, 429), json({ done: 4 })];
    expect(await run({ idempotent: true })).toEqual({ kind: 'executed', output: { done: 4 } });
    expect(receipts.map(({ headers }) => headers['idempotency-key'])).toEqual(['exec_1', 'exec_1', 'exec_1', 'exec_1']);
    expect(new Set(receipts.map(({ body }) => body)).size).toBe(1);
  });

  it('is not asked again after a refusal for good', async () => {
    answers = [json({}, 503), json({}, 422)];
    expect(await run({ idempotent: true })).toMatchObject({ kind: 'failed', error: { message: 'The receiver answered 422.' } });
    expect(receipts).toHaveLength(2);
  });

  it('leaves open what an earlier attempt left open: a later refusal may be for the duplicate', async () => {
    answers = [cutOff, json({}, 409)];
    expect(await run({ idempotent: true })).toMatchObject({ kind: 'unknown', error: { code: 'CONNECTOR_CONNECTION_LOST' } });
    expect(receipts).toHaveLength(2);
  });

  it('ends with the deadline', async () => {
    answers = [json({}, 503)];
    const outcome = await run({ idempotent: true }, { deadline: Deadline.in(2_000) });
    expect(outcome).toMatchObject({ kind: 'failed', error: { message: 'The receiver answered 503.' } });
    expect(receipts.length).toBeGreaterThan(2);
    const count = receipts.length;
    await new Promise((done) => setTimeout(done, 100));
    expect(receipts).toHaveLength(count);
  });

  it('tries a connection three times and then leaves it to a fallback', async () => {
    const url = `${await closedOrigin()}/`;
    const started = Date.now();
    expect(await run({ idempotent: true, url })).toMatchObject({ kind: 'unreachable' });
    expect(Date.now() - started).toBeLessThan(10_000);
  });
});

describe('the webhook', () => {
  const base64 = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

  it.each([['base64', base64, new Webhook(base64)], ['plain', 'a plain secret of 32 characters!!',
    new Webhook('a plain secret of 32 characters!!', { format: 'raw' })]])(
    'posts the call, signed with a %s secret',
    async (_name, secret, verifier) => {
      const deadline = Deadline.in(2_000);
      const inputText = '{"amount":10,"id":"p1","ü":"\\u2028"}';
      const sent = call({ action: 'Pay', context: { task_id: 'task_1' }, deadline, inputText, traceparent: '00-x' });
      expect(await new WebhookRuntime(guard, { url: `${origin}/hook?x=1`, secret }).run(sent,
        signal)).toEqual({ kind: 'executed', output: { ok: true } });
      const [{ method, url, headers, body }] = receipts as [Receipt];
      expect([method, url, headers['webhook-id'], headers['idempotency-key'], headers['content-type']]).toEqual(['POST',
        '/hook?x=1', 'exec_1', 'exec_1', 'application/json']);
      expect(verifier.verify(body, headers as Record<string, string>)).toEqual({
        executionId: 'exec_1', agentId: 'agt_1', capability: 'finance.payment', action: 'Pay',
        input: JSON.parse(inputText), context: { task_id: 'task_1' }, deadline: deadline.at.toISOString(),
      });
      // The approved bytes themselves.
      expect(body).toContain(`"input":${inputText},`);
      expect(() => verifier.verify(body.replace('"amount":10', '"amount":11'), headers as Record<string, string>)).toThrow();
    },
  );

  it('leaves out what is not there, and calls a private address in production: the operator set it', async () => {
    const production = new OutboundGuard({ production: true, allow: [] });
    expect(await new WebhookRuntime(production, { url: origin, secret: base64 }).run(call(),
      signal)).toMatchObject({ kind: 'executed' });
    expect(Object.keys(JSON.parse(receipts[0]!.body) as object)).toEqual(['executionId', 'agentId', 'capability', 'input',
      'deadline']);
  });

  it('reports failures by its own codes', async () => {
    const webhook = new WebhookRuntime(guard, { url: origin, secret: base64 });
    answers = [json({ error: 'x' }, 500)];
    expect(await webhook.run(call(), signal)).toMatchObject({ kind: 'failed', error: { code: 'WEBHOOK_STATUS' },
      output: { error: 'x' } });
    answers = [cutOff];
    expect(await webhook.run(call(), signal)).toMatchObject({ kind: 'unknown', error: { code: 'WEBHOOK_CONNECTION_LOST' } });
    const nowhere = new WebhookRuntime(guard, { url: await closedOrigin(), secret: base64 });
    expect(await nowhere.run(call(), signal)).toMatchObject({ kind: 'unreachable', error: { code: 'WEBHOOK_UNREACHABLE' } });
    expect(await webhook.run(call({ deadline: Deadline.in(-1) }), signal)).toMatchObject({ kind: 'unreachable' });
  });
});
