import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PROBLEMS } from '../../../src/domain/problems.js';
import { startThings } from './http-platform-app.js';

process.env['COUNTERSIGN_STRICT_REPLIES'] = '1';

type Server = Awaited<ReturnType<typeof startThings>>;
let server: Server;
beforeAll(async () => {
  server = await startThings();
});
afterAll(() => server.stop());

const head = (...lines: string[]) => `${['Host: x', 'Authorization: Bearer good', ...lines].join('\r\n')}\r\n\r\n`;
const postHead = (...lines: string[]) => `POST /things HTTP/1.1\r\n${head(...lines)}`;

const GOOD = { Authorization: 'Bearer good' };
const JSON_TYPE = { 'Content-Type': 'application/json' };

function post(body: string | Uint8Array | undefined, headers: Record<string, string> = {}, path = '/things') {
  return fetch(server.url + path, { method: 'POST', body, headers: { ...GOOD, ...JSON_TYPE, ...headers } });
}

/** Checks the form that every refusal has, and gives its body. */
async function problem(response: Response, code: keyof typeof PROBLEMS) {
  const body = (await response.json()) as Record<string, unknown> & { errors?: { pointer: string; message: string }[] };
  expect(body).toMatchObject({ code, status: PROBLEMS[code].status, title: PROBLEMS[code].title });
  expect(response.status).toBe(PROBLEMS[code].status);
  expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(response.headers.get('x-request-id')).toBe(body['requestId']);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(body['type']).toBe(`/docs/errors#${code.toLowerCase().replaceAll('_', '-')}`);
  return body;
}

/** Sends bytes as they are and gives everything that comes back until the server closes, or half a second passes in silence. */
async function raw(parts: (string | Buffer)[], pauseMs = 0): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => (received += text));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  for (const part of parts) {
    if (socket.destroyed) break;
    socket.write(part);
    await delay(pauseMs);
  }
  socket.setTimeout(500, () => socket.destroy());
  if (!socket.destroyed) await once(socket, 'close');
  return received;
}

describe('members', () => {
  it.each([
    [{ name: 'a', limits: { perMinute: 5 } }],
    [{ name: 'a', limits: { per_minute: 5 } }],
    [{ name: 'a', limits: { per_minute: 5, perMinute: 5 } }],
  ])('are read in both spellings: %j', async (body) => {
    const response = await post(JSON.stringify(body));
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ name: 'a', input: null, perMinute: 5 });
  });

  it('are refused by the name that the caller used', async () => {
    const refused = await problem(await post('{"name":"a","limits":{"per_minute":11}}'), 'VALIDATION_FAILED');
    expect(refused.errors).toEqual([{ pointer: '/limits/per_minute', message: 'must be a whole number from 1 to 10' }]);
    expect(refused['detail']).toBe('/limits/per_minute must be a whole number from 1 to 10.');
    expect(refused['instance']).toBe('/things');
  });

  it('are refused where two spellings differ', async () => {
    const refused = await problem(await post('{"name":"a","input":{"x":1},"payload":{"x":2}}'), 'VALIDATION_FAILED');
    expect(refused.errors?.[0]?.pointer).toBe('/payload');
  });

  it('that nobody knows are refused, and ignored where the caller prefers that', async () => {
    const body = '{"name":"a","status":"x","limits":{"permin":5,"perMinute":5}}';
    const refused = await problem(await post(body), 'VALIDATION_FAILED');
    expect(refused.errors).toEqual([
      { pointer: '/status', message: 'is not known here; known are name, input, limits' },
      { pointer: '/limits/permin', message: 'is not known here; did you mean perMinute?' },
    ]);
    const response = await post(body, { Prefer: 'wait=5, handling="lenient"' });
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ name: 'a', input: null, perMinute: 5 });
  });

  it('of a free object all arrive, whatever they are called', async () => {
    const input = '{"constructor":{"prototype":{"a":1}},"toString":"x","hasOwnProperty":null,"b":[{"valueOf":1}]}';
    const response = await post(`{"name":"a","input":${input}}`);
    expect(await response.text()).toBe(`{"name":"a","input":${input},"perMinute":null}`);
  });

  it('may be missing altogether: no body needs no type, and then the members are missed', async () => {
    const response = await fetch(`${server.url}/things`, { method: 'POST', headers: GOOD });
    const refused = await problem(response, 'VALIDATION_FAILED');
    expect(refused.errors).toEqual([{ pointer: '/name', message: expect.stringContaining('is required') }]);
  });
});

describe('bodies', () => {
  it.each([
    ['no JSON', '{"name"', '/name', /must be JSON: expected a colon/],
    ['a list', '[]', '', /must be a JSON object/],
    ['white space', '  ', '', /expected a value/],
    ['a member twice', '{"name":"a","name":"b"}', '/name', /twice/],
    ['a nested member twice', '{"name":"a","input":{"x":[{"y":1,"y":1}]}}', '/input/x/0/y', /twice/],
    ['NUL', '{"name":"a\\u0000"}', '/name', /NUL/],
    ['a lone surrogate', '{"name":"a","input":{"x":"\\ud800"}}', '/input/x', /surrogate/],
    ['__proto__', '{"name":"a","input":{"__proto__":{"admin":true}}}', '/input/__proto__', /not accepted/],
    ['an integer beyond 2^53', '{"name":"a","input":{"n":9007199254740993}}', '/input/n', /9007199254740991/],
    ['a number beyond all', '{"name":"a","input":{"n":1e400}}', '/input/n', /9007199254740991/],
    ['65 levels', `{"name":"a","input":${'{"a":'.repeat(64)}1${'}'.repeat(64)}}`, `/input${'/a'.repeat(63)}`, /64 levels/],
    ['100,000 levels', '['.repeat(100_000), '/0'.repeat(64), /64 levels/],
  ])('with %s are refused', async (_what, body, pointer, message) => {
    const refused = await problem(await post(body), 'VALIDATION_FAILED');
    expect(refused.errors).toHaveLength(1);
    expect(refused.errors?.[0]).toEqual({ pointer, message: expect.stringMatching(message) });
  });

  it('of 64 levels are accepted', async () => {
    expect((await post(`{"name":"a","input":${'{"a":'.repeat(62)}{}${'}'.repeat(62)}}`)).status).toBe(201);
  });

  it('that are not UTF-8, or begin with a mark, are refused', async () => {
    for (const bytes of [Buffer.from('{"name":"\xff"}', 'latin1'), Buffer.from('\ufeff{"name":"a"}')]) {
      await problem(await post(bytes), 'VALIDATION_FAILED');
    }
  });

  it.each([
    ['application/json', 201], ['application/json; charset=utf-8', 201], ['Application/JSON;charset="UTF-8"', 201],
    ['application/merge-patch+json', 201], ['application/json;charset=latin1', 415], ['text/plain', 415], ['text/json', 415],
    ['application/x-www-form-urlencoded', 415], ['application/jsonx', 415], ['multipart/form-data; boundary=x', 415],
  ])('of the type %s answer %i', async (type, status) => {
    expect((await post('{"name":"a"}', { 'Content-Type': type })).status).toBe(status);
  });

  it('without a type, or compressed, are refused', async () => {
    const untyped = await raw([postHead('Content-Length: 12', 'Connection: close'), '{"name":"a"}']);
    expect(untyped).toMatch(/^HTTP\/1\.1 415 /);
    await problem(await post('{"name":"a"}', { 'Content-Encoding': 'gzip' }), 'UNSUPPORTED_MEDIA_TYPE');
    expect((await post('{"name":"a"}', { 'Content-Encoding': 'identity' })).status).toBe(201);
  });

  it('may be forms where a route reads one', async () => {
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    expect(await (await post('a=1&b=%C3%A9', type, '/open/form')).json()).toEqual({ a: '1', b: 'é' });
    await problem(await post('{}', {}, '/open/form'), 'UNSUPPORTED_MEDIA_TYPE');
  });
});

describe('sizes', () => {
  const padded = (bytes: number) => `{"name":"a","input":{"x":"${'x'.repeat(bytes - 29)}"}}`;

  it('of 256 KiB are accepted, one byte more is not', async () => {
    expect(padded(256 * 1024).length).toBe(256 * 1024);
    expect((await post(padded(256 * 1024))).status).toBe(201);
    const response = await post(padded(256 * 1024 + 1));
    expect(response.headers.get('connection')).toBe('close');
    const refused = await problem(response, 'BODY_TOO_LARGE');
    expect(refused['detail']).toBe('The body may have up to 262144 bytes.');
  });

  it('may be larger under a prefix of their own', async () => {
    expect((await post(padded(1024 * 1024), {}, '/api/v1/llm/things')).status).toBe(201);
  });

  it('sent in chunks, without a length, count too', async () => {
    const chunk = Buffer.alloc(64 * 1024, 0x20);
    const framed = Buffer.concat([Buffer.from('10000\r\n'), chunk, Buffer.from('\r\n')]);
    const start = postHead('Content-Type: application/json', 'Transfer-Encoding: chunked');
    const answer = await raw([start, ...Array.from({ length: 16 }, () => framed), '0\r\n\r\n']);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toMatch(/\r\nConnection: close\r\n/i);
    expect(answer).toContain('"code":"BODY_TOO_LARGE"');
  });

  it('announced and never sent are refused in time', async () => {
    const started = Date.now();
    const answer = await raw([postHead('Content-Length: 999999999'), ' '], 2_100);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(Date.now() - started).toBeLessThan(20_000);
  });

  it('in pieces, slowly, are read as a whole', async () => {
    const start = postHead('Content-Type: application/json', 'Content-Length: 12', 'Connection: close');
    expect(await raw([start, '{"na', 'me":', '"a"}'], 30)).toMatch(/^HTTP\/1\.1 201 /);
  });

  it('cut off by the caller are never handled', async () => {
    const before = server.handled();
    const socket = connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`${postHead('Content-Type: application/json', 'Content-Length: 50')}{"name":"a"}`);
    await delay(50);
    socket.destroy();
    await delay(100);
    expect(server.handled()).toBe(before);
    expect((await post('{"name":"a"}')).status).toBe(201);
    expect(server.log().some((line) => line['aborted'] === true && line['path'] === '/things')).toBe(true);
  });

  it('do not lose the request’s context', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const bytes = 'x'.repeat(200_000);
    expect(await (await post(bytes, { traceparent }, '/open/bytes')).json()).toEqual({
      bytes: 200_000, trace: '4bf92f3577b34da6a3ce929d0e0e4736',
    });
  });
});

describe('the guard answers before anything is said about the body', () => {
  it.each([
    ['no JSON', '{', 'application/json'],
    ['another type', 'x', 'text/plain'],
    ['too much', 'x'.repeat(300_000), 'application/json'],
  ])('%s', async (_what, body, type) => {
    const response = await post(body, { Authorization: 'Bearer bad', 'Content-Type': type });
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="countersign"');
    await problem(response, 'UNAUTHENTICATED');
  });

  it('a query or a path', async () => {
    await problem(await fetch(`${server.url}/things?limit=%zz`), 'UNAUTHENTICATED');
    await problem(await fetch(`${server.url}/things/nothing`), 'UNAUTHENTICATED');
  });
});

describe('addresses', () => {
  const get = (path: string, init: RequestInit = {}) => fetch(server.url + path, { headers: GOOD, ...init });

  it('that are unknown are not found, by any method', async () => {
    const refused = await problem(await get('/nowhere?token=canary'), 'NOT_FOUND');
    expect(refused['instance']).toBe('/nowhere');
    const wrongMethod = await get('/things', { method: 'DELETE' });
    expect(wrongMethod.headers.get('allow')).toBe('GET, HEAD, POST');
    await problem(wrongMethod, 'METHOD_NOT_ALLOWED');
    await problem(await post('{"a":', {}, '/nowhere'), 'NOT_FOUND');
  });

  it.each(['/things/%', '/things/%zz', '/things/%c3%28', '/things/%ff'])('%s is malformed', async (path) => {
    const answer = await raw([`GET ${path} HTTP/1.1\r\n${head('Connection: close')}`]);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('application/problem+json');
    expect(answer).toContain('"code":"VALIDATION_FAILED"');
  });

  it.each(['1', 'agt_%00000000000', "agt_'%20or%201=1", 'org_0123456789abc'])('/things/%s is nothing', async (id) => {
    await problem(await get(`/things/${id}`), 'NOT_FOUND');
  });

  it('have queries that are read strictly', async () => {
    expect(await (await get('/things?limit=5&offset=0')).json()).toEqual({ limit: 5, offset: 0 });
    for (const query of ['limit=501', 'limit=5&limit=5', 'limit=x', 'offset=10001', 'limit=%zz', 'limit=', 'cursor=%00']) {
      await problem(await get(`/things?${query}`), 'VALIDATION_FAILED');
    }
  });

  it('answer HEAD and OPTIONS', async () => {
    const found = await get('/things?limit=5', { method: 'HEAD' });
    expect([found.status, await found.text()]).toEqual([200, '']);
    const missing = await get('/nowhere', { method: 'HEAD' });
    expect([missing.status, await missing.text()]).toEqual([404, '']);
    expect((await get('/things', { method: 'OPTIONS' })).status).toBeLessThan(500);
  });
});
