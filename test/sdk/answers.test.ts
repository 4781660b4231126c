import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Countersign, type CountersignError } from '@countersign/sdk';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type Answer, type Receiver, startReceiver } from '../support/http/receiver.js';
import { rejection } from '../support/sdk/callers.js';
import { ROOT_KEY } from '../support/servers/test-run.js';

// What is no answer of the service: proxies, other servers, and lines that break.

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());
const refused: Answer = { status: 503, headers: { 'retry-after': '0' }, body: 'busy' };
const sdk = (more = {}) => new Countersign({ url: receiver.url, credential: ROOT_KEY, ...more });
/** Not repeated, since nothing says that it may be. */
const unrepeated = (client: Countersign) => client.agents.activate('agt_1');

describe('no answer of the service is BAD_RESPONSE', () => {
  test.each<[string, Answer, RegExp]>([
    ['a page of a proxy', { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>Bad gateway' }, /502 with text\/html/],
    ['a page with 200', { headers: { 'content-type': 'text/html' }, body: '<html>Sign in' }, /200 with text\/html/],
    ['no type', { headers: { 'content-type': '' }, body: '{}' }, /where the service answers JSON/],
    ['JSON that is none', { headers: { 'content-type': 'application/json' }, body: '{"agents": [' }, /cut off or none/],
    ['no UTF-8', { headers: { 'content-type': 'application/json', 'content-length': '3' }, body: '"\ud800' }, /cut off|UTF-8/],
    ['a refusal without a code', { status: 418, body: { message: 'teapot' } }, /418 without a problem's code/],
    ['null', { body: null }, /200 with JSON that is no object/],
    ['an array', { body: [] }, /200 with JSON that is no object/],
    ['a refusal that is null', { status: 400, body: null }, /400 with JSON that is no object/],
    ['nothing', { status: 204 }, /204 with no type|204 with/],
    ['an empty text', { body: '' }, /200 with text\/plain/],
    ['10 MB', { body: { much: 'x'.repeat(10 * 1024 * 1024) } }, /longer than 8388608 bytes/],
    ['a redirection', { status: 302, headers: { location: 'https://elsewhere.example/' } }, /redirected/],
  ])('%s', async (_, answer, detail) => {
    receiver.script(answer);
    const error = await rejection(unrepeated(sdk())) as CountersignError;
    expect(error).toMatchObject({ code: 'BAD_RESPONSE', detail: expect.stringMatching(detail) });
    expect(error.status).toBe(answer.status ?? 200);
  });

  test('nor is what says that all is well asked again, though a read could be', async () => {
    const html = { headers: { 'content-type': 'text/html' }, body: '<title>Sign in' };
    const calls: ((client: Countersign) => Promise<unknown>)[] = [
      (client) => client.agents.list(), (client) => client.execute('web.search'), (client) => client.waitFor('hitl_1'),
      (client) => client.gate.dryRun('web.search'), (client) => client.hitl.list(), (client) => client.hitl.events().next(),
    ];
    for (const answer of [html, { body: null }, { body: [1] }, { status: 204 }, { body: '' }]) {
      for (const call of calls) {
        const before = receiver.requests.length;
        receiver.script(answer);
        expect(await rejection(call(sdk()))).toMatchObject({ name: 'CountersignError', code: 'BAD_RESPONSE' });
        expect(receiver.requests.length).toBe(before + 1);
      }
    }
  });

  test.each<[string, (client: Countersign) => Promise<unknown>, unknown[]]>([
    ['to a call at the gate', (client) => client.execute('web.search'), [{}]],
    ['no id of a request', (client) => client.execute('web.search'), [{ status: 'pending_hitl', executionId: 'exec_1' }]],
    ['to a request', (client) => client.waitFor('hitl_1'), [{}]],
    ['to an execution', (client) => client.waitFor('hitl_1'),
      [{ id: 'hitl_1', status: 'approved', execution: { id: 'exec_1' } }, { ok: true }]],
  ])('an object of another kind: %s', async (_, call, bodies) => {
    const before = receiver.requests.length;
    receiver.script(...bodies.map((body) => ({ body })));
    expect(await rejection(call(sdk()))).toMatchObject({ code: 'BAD_RESPONSE', detail: expect.stringMatching(/has the status/) });
    expect(receiver.requests.length - before).toBe(bodies.length);
  });

  test('cut off in the middle', async () => {
    receiver.script({ headers: { 'content-type': 'application/json', 'content-length': '5000', connection: 'close' }, body: { a: 1 } });
    const error = await rejection(unrepeated(sdk()));
    expect(error).toMatchObject({ code: 'BAD_RESPONSE', detail: expect.stringMatching(/cut off/), status: 200 });
  });
});

describe('again where that is safe', () => {
  test.each([
    ['a read', (client: Countersign) => client.agents.list()],
    ['what carries a key', (client: Countersign) => client.agents.register({ name: 'a' })],
  ])('%s: over lost connections, 429, 503 and pages of proxies, under one key', async (_, call) => {
    const before = receiver.requests.length;
    receiver.script({ reset: true }, { ...refused, status: 429 }, refused, { ...refused, status: 502 }, { body: { ok: 1 } });
    expect(await call(sdk())).toEqual({ ok: 1 });
    const seen = receiver.requests.slice(before);
    expect(seen).toHaveLength(5);
    expect(new Set(seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(new Set(seen.map(({ body }) => body)).size).toBe(1);
  });

  test.each([
    ['what carries none', (client: Countersign) => client.agents.activate('agt_1')],
    ['a change by PATCH', (client: Countersign) => client.agents.update('agt_1', { name: 'b' })],
    ['a removal', (client: Countersign) => client.agents.remove('agt_1')],
  ])('never %s', async (_, call) => {
    const before = receiver.requests.length;
    receiver.script({ reset: true });
    expect(await rejection(call(sdk()))).toMatchObject({ code: 'UNREACHABLE' });
    expect(receiver.requests.length).toBe(before + 1);
  });

  test('not where people have to do something first, nor past the deadline', async () => {
    const problem = { status: 429, headers: { 'content-type': 'application/problem+json', 'retry-after': '1' } };
    receiver.script({ ...problem, body: JSON.stringify({ code: 'TOO_MANY_PENDING', status: 429, title: 't', detail: 'd' }) });
    expect(await rejection(sdk().execute('web.search'))).toMatchObject({ code: 'TOO_MANY_PENDING', retryAfterMs: 1_000 });
    const inAnHour = { ...problem.headers, 'retry-after': '3600' };
    receiver.script({ ...problem, headers: inAnHour, body: JSON.stringify({ code: 'RATE_LIMITED', title: 't' }) });
    expect(await rejection(sdk().agents.list())).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 3_600_000 });
  });
});

describe('at once', () => {
  test('where the caller aborts, and nothing is left open', async () => {
    receiver.script({ hang: 'before headers' });
    const before = receiver.requests.length;
    const ending = new AbortController();
    const call = rejection(sdk().execute('web.search', {}, { signal: ending.signal, idempotencyKey: 'mine' }));
    await receiver.received(before + 1);
    ending.abort(new Error('changed my mind'));
    expect(await call).toMatchObject({ code: 'ABORTED', idempotencyKey: 'mine', cause: { message: 'changed my mind' } });
    expect(await rejection(sdk().agents.list({}, { signal: ending.signal }))).toMatchObject({ code: 'ABORTED' });
    expect(receiver.requests.length).toBe(before + 1);
  });

  test('1,000 waits hold one timer each at most and few connections, and nothing once they are aborted by one signal', async () => {
    const WAITS = 1_000;
    const LOOKS_AT_ONCE = 16;
    /** Of the platform's own fetch, however many calls there are. */
    const BESIDES = 10;
    receiver.standing({ hang: 'before headers' });
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const [before, idle] = [receiver.requests.length, timers()];
    const ending = new AbortController();
    const client = sdk();
    const waits = Array.from({ length: WAITS }, (_, n) => rejection(client.waitFor(`hitl_${n}`, { signal: ending.signal })));
    await receiver.received(before + LOOKS_AT_ONCE);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(receiver.requests.length - before).toBe(LOOKS_AT_ONCE);
    expect(timers() - idle).toBeLessThanOrEqual(WAITS + BESIDES);
    ending.abort();
    const errors = (await Promise.all(waits)) as CountersignError[];
    expect(errors.map(({ code, hitlId }) => `${code} ${hitlId}`)).toEqual(waits.map((_, n) => `ABORTED hitl_${n}`));
    expect(timers() - idle).toBeLessThanOrEqual(BESIDES);
    receiver.standing({ body: { ok: true } });
  });

  test('at the deadline', async () => {
    receiver.script({ hang: 'after headers', body: { agents: [] } });
    expect(await rejection(sdk().agents.list({}, { timeoutMs: 300 }))).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });

  test("of the client, of whatever it calls, a person's answer that is waited for among them", async () => {
    const waits = { waitForApproval: true, idempotencyKey: 'mine' };
    for (const [ofClient, ofCall] of [[{ timeoutMs: 300 }, {}], [{}, { timeoutMs: 300 }]]) {
      receiver.script({ hang: 'before headers' });
      const call = sdk(ofClient).execute('web.search', {}, { ...waits, ...ofCall });
      expect(await rejection(call)).toMatchObject({ code: 'DEADLINE_EXCEEDED', idempotencyKey: 'mine' });
    }
  });
});

const MAY_BE_DONE = 'may have been done';

test.each<[string, Answer, (client: Countersign) => Promise<unknown>, string]>([
  ['nobody answered', { hang: 'before headers' }, (client) => client.execute('web.search'),
    'sent may have been done: ask again by the same key.'],
  ['the connection was lost, without a key', { reset: true }, unrepeated, 'sent may have been done.'],
])('%s: it may have been done, and so it says', async (_, answer, call, said) => {
  receiver.script(answer);
  const error = await rejection(call(sdk({ timeoutMs: 300 }))) as CountersignError;
  expect(error.message.endsWith(said)).toBe(true);
});

test.each<[string, Answer, (client: Countersign) => Promise<unknown>]>([
  ['a read', { hang: 'before headers' }, (client) => client.agents.list()],
  ['what was refused', { ...refused, status: 429, headers: { 'content-type': 'application/problem+json', 'retry-after': '9' },
    body: '{"code": "RATE_LIMITED"}' }, (client) => client.execute('web.search')],
])('%s: nothing was done, and nothing else is said', async (_, answer, call) => {
  receiver.script(answer);
  expect(String(await rejection(call(sdk({ timeoutMs: 300 }))))).not.toContain(MAY_BE_DONE);
});

describe('a service that is not there', () => {
  test('is UNREACHABLE once the deadline is near', async () => {
    // A port that somebody calls from is nobody's to listen at.
    const caller = connect(Number(new URL(receiver.url).port), '127.0.0.1');
    await once(caller, 'connect');
    const port = caller.localPort;
    const client = new Countersign({ url: `http://127.0.0.1:${port}`, credential: ROOT_KEY, timeoutMs: 700 });
    const error = await rejection(client.execute('web.search')) as CountersignError;
    expect(error).toMatchObject({ code: expect.stringMatching(/^(UNREACHABLE|DEADLINE_EXCEEDED)$/) });
    // Nothing was sent.
    expect(error.message).not.toContain(MAY_BE_DONE);
    const ending = new AbortController();
    const call = rejection(client.execute('web.search', {}, { signal: ending.signal }));
    ending.abort();
    expect(await call).toMatchObject({ code: 'ABORTED', message: expect.not.stringContaining(MAY_BE_DONE) });
    expect(JSON.stringify([error, error.stack, String(error.cause)])).not.toContain(ROOT_KEY);
    caller.destroy();
  });
});
