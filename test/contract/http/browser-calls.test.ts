import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { APP_URL, startActions } from './browser-calls-app.js';

let server: Awaited<ReturnType<typeof startActions>>;
beforeAll(async () => {
  server = await startActions();
});
beforeEach(() => {
  server.noted.failures.length = 0;
  server.noted.counted = 0;
});
afterAll(() => server.stop());

const COOKIE = 'countersign=ada';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const OURS = { origin: APP_URL };
const EVIL = { origin: 'https://evil.example' };

function call(method: string, path: string, headers: Record<string, string>, body?: string) {
  return fetch(server.url + path, { method, headers, redirect: 'manual', ...(body === undefined ? {} : { body }) });
}
const statusOf = async (...args: Parameters<typeof call>) => (await call(...args)).status;

describe('who comes by a cookie', () => {
  test('is who the session is of', async () => {
    const answer = await call('GET', '/read', { cookie: `other=1; ${COOKIE}` });
    expect([answer.status, await answer.json()]).toEqual([200, { userId: 'ada', by: 'session' }]);
  });

  test.each<[string, Record<string, string>, number, unknown]>([
    ['a key of the same person counts, whatever site the call is of', { cookie: COOKIE, authorization: 'Bearer ada' }, 200, 'key'],
    ['a dead cookie beside a key is none', { cookie: 'countersign=ended', authorization: 'Bearer ada' }, 200, 'key'],
    ['an unknown cookie beside a key is none', { cookie: 'countersign=unknown', authorization: 'Bearer ada' }, 200, 'key'],
    ['two people at once are nobody', { cookie: 'countersign=bob', authorization: 'Bearer ada' }, 401, undefined],
    ['a dead key beside a good cookie is no way around', { cookie: COOKIE, authorization: 'Bearer unknown' }, 401, undefined],
    ['two sessions at once are nobody', { cookie: 'countersign=ada; countersign=bob' }, 401, undefined],
    ['the same twice is one', { cookie: 'countersign=ada; countersign=ada' }, 200, 'session'],
    ['a session of which its own source says that it is over', { cookie: 'countersign=late' }, 401, undefined],
  ])('%s', async (_, headers, status, by) => {
    const answer = await call('GET', '/read', headers);
    expect(answer.status).toBe(status);
    if (by !== undefined) expect(await answer.json()).toMatchObject({ by });
  });

  test('and whose session has ended is told so, counted and not noted: a page that was left open is no attack', async () => {
    const answer = await call('GET', '/read', { cookie: 'countersign=ended' });
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, expect.stringMatching(/^countersign=; Path=\/; Max-Age=0;/)]);
    expect(server.noted).toEqual({ failures: [], counted: 1 });
  });

  test('and whose session nobody knows is noted', async () => {
    const answer = await call('GET', '/read', { cookie: 'countersign=unknown' });
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, expect.stringMatching(/^countersign=;/)]);
    expect(server.noted).toEqual({ failures: ['unknown session or key'], counted: 1 });
  });
});

describe('a call that changes something', () => {
  test('by session must come from a page of ours', async () => {
    expect(await statusOf('POST', '/change', { cookie: COOKIE })).toBe(403);
    expect(await statusOf('POST', '/change', { cookie: COOKIE, ...EVIL })).toBe(403);
    expect(await statusOf('POST', '/change', { cookie: COOKIE, origin: 'null', 'sec-fetch-site': 'same-origin' })).toBe(403);
    expect(await statusOf('POST', '/change', { cookie: COOKIE, ...OURS })).toBe(201);
    expect(await statusOf('POST', '/change', { cookie: COOKIE, origin: 'https://console.example' })).toBe(201);
    expect(await statusOf('POST', '/change', { cookie: COOKIE, ...OURS, 'content-type': 'text/plain' }, '{}')).toBe(403);
    expect(await statusOf('POST', '/change', { cookie: COOKIE, ...OURS, ...FORM }, 'a=1')).toBe(403);
    expect(server.noted.failures).toEqual([]);
  });

  test('by key may come from anywhere, for nobody else can make a browser send it', async () => {
    expect(await statusOf('POST', '/change', { authorization: 'Bearer ada' })).toBe(201);
    expect(await statusOf('POST', '/change', { authorization: 'Bearer ada', cookie: COOKIE, ...EVIL })).toBe(201);
  });

  test('is one also where it is a GET', async () => {
    expect(await statusOf('GET', '/changing-read', { cookie: COOKIE, 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await statusOf('GET', '/changing-read', { cookie: COOKIE })).toBe(403);
    expect(await statusOf('GET', '/changing-read', { cookie: COOKIE, 'sec-fetch-site': 'same-origin' })).toBe(200);
    expect(await statusOf('GET', '/changing-read', { authorization: 'Bearer ada' })).toBe(200);
    expect(await statusOf('GET', '/read', { cookie: COOKIE, 'sec-fetch-site': 'cross-site' })).toBe(200);
  });

  test('and lets somebody in must come from a page of ours too', async () => {
    expect(await statusOf('POST', '/open/form', { ...FORM }, 'a=1')).toBe(403);
    expect(await statusOf('POST', '/open/form', { ...FORM, ...EVIL }, 'a=1')).toBe(403);
    const answer = await call('POST', '/open/form', { ...FORM, ...OURS }, 'a=1&b=%C3%BC+2&c=');
    expect([answer.status, await answer.json()]).toEqual([201, { a: '1', b: 'ü 2', c: '' }]);
  });
});

describe('a form', () => {
  test('is read where one is taken, and nothing else is', async () => {
    const answer = await call('POST', '/form', { cookie: COOKIE, ...OURS, ...FORM }, 'name=x&__proto__=y');
    expect([answer.status, await answer.text()]).toEqual([201, '{"via":"page","name":"x","__proto__":"y"}']);
    expect(await statusOf('POST', '/form', { cookie: COOKIE, ...OURS, ...FORM }, 'a=1&a=2')).toBe(400);
    expect(await statusOf('POST', '/form', { cookie: COOKIE, ...OURS, 'content-type': 'application/json' }, '{"a":1}')).toBe(415);
  });
});

describe('a page', () => {
  test('knows who comes by a session, and lets everybody else see it', async () => {
    const seen = async (cookie?: string) => (await call('GET', '/open/page', cookie === undefined ? {} : { cookie })).json();
    expect(await Promise.all([seen(COOKIE), seen(), seen('countersign=ended'), seen('countersign=unknown'), seen('countersign=late')]))
      .toEqual([{ userId: 'ada' }, ...Array.from({ length: 4 }, () => ({ userId: null }))]);
    expect(server.noted.failures).toEqual([]);
  });

  test('is a page also where it is refused, and says nothing but what it means', async () => {
    const answer = await call('GET', '/open/failing-page', { accept: 'text/html' });
    const html = await answer.text();
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('referrer-policy')])
      .toEqual([404, 'text/html; charset=utf-8', 'same-origin']);
    expect(html).toContain('No &lt;script&gt;alert(1)&lt;/script&gt; here.');
    expect(html).not.toContain('<script');
  });

  test('is also what the guards refuse with', async () => {
    const answer = await call('POST', '/form', { cookie: COOKIE, accept: 'text/html,*/*;q=0.8', ...EVIL, ...FORM }, 'a=1');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8']);
    expect((await call('POST', '/change', { cookie: COOKIE, ...EVIL })).headers.get('content-type')).toMatch(/^application\/problem\+json/);
  });
});
