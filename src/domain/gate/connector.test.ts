import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyText } from '../../../test/support/running/any-text.js';
import type { JsonObject, JsonValue } from '../json.js';
import { checkConnector, connectorErrors, type HttpConnector, renderConnector, secretNames } from './connector.js';
import { definitionDigest } from './definition-digest.js';

function connector(parts: JsonObject = {}): HttpConnector {
  const check = checkConnector({ type: 'http', method: 'POST', url: 'https://api.example.com/v1/things', ...parts });
  if (!check.ok) throw new Error(JSON.stringify(check.errors));
  return check.connector as HttpConnector;
}
function request(parts: JsonObject, input: JsonObject) {
  const rendered = renderConnector(connector(parts), input);
  if (!rendered.ok) throw new Error(JSON.stringify(rendered.errors));
  return rendered.request;
}
function errorsOf(parts: JsonObject, input: JsonObject) {
  const rendered = renderConnector(connector(parts), input);
  return rendered.ok ? [] : rendered.errors;
}

describe('rendering', () => {
  it('fills path, query, headers and body', () => {
    const parts = {
      method: 'PUT',
      url: 'https://api.example.com:8443/users/{input.user.id}/files/{input.names.1}?v={input.v}',
      query: { q: 'to {input.q}', n: 3, 'a b': true },
      headers: { 'X-Ticket': 'T-{input.ticket}' },
      body: { to: '{input.user}', text: 'Hello {input.user.name}, {input.v}', list: ['{input.names}', 1, null],
        whole: '{input}' },
    };
    const input = { user: { id: 'ü/1 ?', name: 'Ann' }, names: ['a', "b's"], v: 1.5, q: 'a&b=c', ticket: 7 };
    const { method, url, headers, body } = request(parts, input);
    expect(method).toBe('PUT');
    expect(url).toBe('https://api.example.com:8443/users/%C3%BC%2F1%20%3F/files/b%27s?v=1.5&q=to%20a%26b%3Dc&n=3&a%20b=true');
    expect(headers).toEqual({ accept: 'application/json', 'content-type': 'application/json', 'x-ticket': 'T-7' });
    expect(JSON.parse(body!)).toEqual({ to: input.user, text: 'Hello Ann, 1.5', list: [input.names, 1, null], whole: input });
  });

  it('keeps the types of a text that is exactly one placeholder', () => {
    for (const value of [1, 'x', true, null, [1], { a: 1 }] as JsonValue[]) {
      expect(JSON.parse(request({ body: { v: '{input.v}' } }, { v: value }).body!)).toEqual({ v: value });
    }
  });

  it('fills in one pass: a value that looks like a placeholder stays a value', () => {
    const input = { a: '{input.b}', b: 'secret' };
    const { url, body } = request({ url: 'https://x.test/{input.a}', body: ['{input.a}', 'x{input.a}'] }, input);
    expect(url).toBe('https://x.test/%7Binput.b%7D');
    expect(JSON.parse(body!)).toEqual(['{input.b}', 'x{input.b}']);
  });

  it('leaves other braces of a body alone, and has no body where none is given', () => {
    expect(JSON.parse(request({ body: '{"a": {name}}' }, {}).body!)).toBe('{"a": {name}}');
    expect(request({ method: 'GET' }, {}).body).toBeUndefined();
    expect(request({ method: 'GET' }, {}).headers).toEqual({ accept: 'application/json' });
    expect(request({ url: 'https://x.test' }, {}).url).toBe('https://x.test/');
    expect(request({ url: 'https://x.test//a//b/' }, {}).url).toBe('https://x.test//a//b/');
  });

  it.each<[string, JsonObject, JsonObject, string]>([
    ['a missing member', { body: '{input.a.b}' }, { a: {} }, '/input/a/b'],
    ['an inherited member', { body: '{input.constructor}' }, {}, '/input/constructor'],
    ['a member of a text', { body: '{input.a.length}' }, { a: 'xx' }, '/input/a/length'],
    ['a list length', { body: '{input.a.length}' }, { a: [1] }, '/input/a/length'],
    ['an index past the end', { body: '{input.a.1}' }, { a: [1] }, '/input/a/1'],
    ['an object within a text', { body: 'x {input.a}' }, { a: {} }, '/input/a'],
    ['null in a path', { url: 'https://x.test/{input.a}' }, { a: null }, '/input/a'],
    ['an empty path value', { url: 'https://x.test/a/{input.a}/b' }, { a: '' }, '/input/a'],
    ['a list in a query', { query: { q: '{input.a}' } }, { a: ['x'] }, '/input/a'],
    ['a line break in a header', { headers: { 'x-a': '{input.a}' } }, { a: 'x\r\nx-admin: 1' }, '/input/a'],
    ['a bare line feed in a header', { headers: { 'x-a': '{input.a}' } }, { a: 'x\ny' }, '/input/a'],
    ['other letters in a header', { headers: { 'x-a': '{input.a}' } }, { a: 'ü' }, '/input/a'],
    ['an overlong header', { headers: { 'x-a': '{input.a}' } }, { a: 'x'.repeat(9_000) }, '/input'],
    ['an overlong address', { query: { q: '{input.a}' } }, { a: 'x'.repeat(9_000) }, '/input'],
    ['a body that grows', { body: Array(10).fill('{input.a}') as string[] }, { a: 'x'.repeat(200_000) }, '/input'],
  ])('refuses %s', (_name, parts, input, pointer) => {
    expect(errorsOf(parts, input)).toEqual([{ pointer, message: expect.any(String) }]);
  });

  it.each(['.', '..', '%2e', '%2E%2e', '%252e%252e', '%25252e.', '．．', '.\u200b.', 'a/../b', '..\\..', '..%2f..%2fadmin',
    '%2e%2e%5cadmin', '..;x=1',
    '%c0%ae%c0%ae', '%u002e%u002e', '. .', '..\u0000', '/..', './', '%ff%2e%2e'.replace('%ff', ''), '..%00', '∕..∕x',
      '%E2%80%8B..'])(
    'refuses the path value %j',
    (value) => expect(errorsOf({ url: 'https://x.test/files/{input.a}/x' }, { a: value })).toEqual([{ pointer: '/input/a',
      message: expect.any(String) }]),
  );

  it('refuses what climbs only when values stand together', () => {
    expect(errorsOf({ url: 'https://x.test/f/{input.a}{input.b}' }, { a: '.', b: '.' })).toHaveLength(1);
    expect(errorsOf({ url: 'https://x.test/f/.{input.a}' }, { a: '%2e' })).toHaveLength(1);
    expect(errorsOf({ url: 'https://x.test/f/{input.a}.{input.b}' }, { a: 'report', b: 'pdf' })).toEqual([]);
  });

  it.each(['...', '.hidden', 'a..b', 'x.', '2024..2025', '100%', 'a/b', '50%25'])('takes the path value %j', (value) =>
    expect(errorsOf({ url: 'https://x.test/files/{input.a}' }, { a: value })).toEqual([]));

  it('never leaves its origin and path prefix, whatever the values', () => {
    const template = connector({ url: 'https://x.test/files/{input.a}/meta?q={input.b}', headers: { 'x-c': '{input.c}' } });
    const text = fc.oneof(anyText(), fc.array(fc.constantFrom('.', '/', '\\', '%', '2e', '2f', '@', '#', '?',
      ':', '\r\n', ' ')).map((parts) => parts.join('')));
    fc.assert(
      fc.property(text, text, text, (a, b, c) => {
        const rendered = renderConnector(template, { a, b, c });
        if (!rendered.ok) return;
        const url = new URL(rendered.request.url);
        expect(url.origin).toBe('https://x.test');
        expect(url.pathname).toBe(`/files/${rendered.request.url.split('/files/')[1]!.split('?')[0]!}`);
        expect(url.pathname.split('/')).toHaveLength(4);
        expect(decodeURIComponent(url.pathname.split('/')[2]!)).toBe(a);
        expect(url.searchParams.get('q')).toBe(b);
        expect(url.hash).toBe('');
        expect(rendered.request.headers['x-c']).not.toMatch(/[\r\n\u0000]/);
      }),
      { numRuns: 500 },
    );
  });
});

describe('what a connector may be', () => {
  it('fills in the defaults, so that equal connectors are equal', () => {
    const short = connector({});
    expect(short).toMatchObject({ timeoutSeconds: 30, maxBytes: 262_144, idempotent: false });
    const long = connector({ timeoutSeconds: 30, maxBytes: 262_144, idempotent: false });
    expect(definitionDigest({ connector: short })).toBe(definitionDigest({ connector: long }));
    expect(connector({ timeoutSeconds: 120, maxBytes: 1, idempotent: true })).toMatchObject({ timeoutSeconds: 120, maxBytes: 1,
      idempotent: true });
  });

  it.each<[string, JsonObject, string]>([
    ['an unknown type', { type: 'soap' }, '/connector/type'],
    ['a type of the language', { type: 'constructor' }, '/connector/type'],
    ['an unknown method', { method: 'CONNECT' }, '/connector/method'],
    ['a lower-case method', { method: 'post' }, '/connector/method'],
    ['no address', { url: 1 }, '/connector/url'],
    ['another scheme', { url: 'file:///etc/passwd' }, '/connector/url'],
    ['a placeholder in the scheme', { url: '{input.s}://x.test/' }, '/connector/url'],
    ['a placeholder in the host', { url: 'https://{input.h}/a' }, '/connector/url'],
    ['a placeholder in part of the host', { url: 'https://x.{input.h}.test/a' }, '/connector/url'],
    ['a placeholder right behind the host', { url: 'https://x.test{input.h}' }, '/connector/url'],
    ['a placeholder in the port', { url: 'https://x.test:{input.p}/' }, '/connector/url'],
    ['credentials', { url: 'https://user:pw@x.test/' }, '/connector/url'],
    ['a fragment', { url: 'https://x.test/#a' }, '/connector/url'],
    ['a backslash', { url: 'https://x.test\\@evil.test/' }, '/connector/url'],
    ['a blank', { url: 'https://x.test/a b' }, '/connector/url'],
    ['a path that climbs', { url: 'https://x.test/a/../b' }, '/connector/url'],
    ['a path that climbs encoded', { url: 'https://x.test/a/%2e%2e/b' }, '/connector/url'],
    ['the whole input in an address', { url: 'https://x.test/{input}' }, '/connector/url'],
    ['another placeholder in an address', { url: 'https://x.test/{id}' }, '/connector/url'],
    ['an impossible port', { url: 'https://x.test:99999/' }, '/connector/url'],
    ['a secret in an address', { url: 'https://x.test/{secrets.k}' }, '/connector/url'],
    ['a secret in a header', { headers: { authorization: 'Bearer {secret.k}' } }, '/connector/headers/authorization'],
    ['a secret in a path', { url: 'https://x.test/a/{secrets.k}/b' }, '/connector/url'],
    ['a secret in a query', { query: { a: '{secrets.k}' } }, '/connector/query/a'],
    ['a secret as a name in a query', { query: { '{secrets.k}': 'a' } }, '/connector/query/{secrets.k}'],
    ['a placeholder as a name in a query', { query: { 'a{input.b}': 'a' } }, '/connector/query/a{input.b}'],
    ['a malformed reference to a secret as a member name', { body: [{ '{secrets.K}': 1 }] }, '/connector/body/0/{secrets.K}'],
    ['a secret as a member name', { body: { '{secrets.k}': 1 } }, '/connector/body/{secrets.k}'],
    ['a malformed reference to a secret deep in a body', { body: { a: [{ b: '{secrets.K}' }] } }, '/connector/body/a/0/b'],
    ['a placeholder of the context', { body: '{context.task_id}' }, '/connector/body'],
    ['a malformed placeholder', { body: '{input.a[0]}' }, '/connector/body'],
    ['a placeholder as a member name', { body: { '{input.a}': 1 } }, '/connector/body/{input.a}'],
    ['Host', { headers: { Host: 'x' } }, '/connector/headers/Host'],
    ['Content-Length', { headers: { 'content-length': '1' } }, '/connector/headers/content-length'],
    ['Transfer-Encoding', { headers: { 'Transfer-Encoding': 'chunked' } }, '/connector/headers/Transfer-Encoding'],
    ['Connection', { headers: { connection: 'x' } }, '/connector/headers/connection'],
    ['Proxy-Authorization', { headers: { 'Proxy-Authorization': 'x' } }, '/connector/headers/Proxy-Authorization'],
    ['Idempotency-Key', { headers: { 'Idempotency-Key': 'x' } }, '/connector/headers/Idempotency-Key'],
    ['a header name with a line break', { headers: { 'x\r\ny': 'x' } }, '/connector/headers/x\r\ny'],
    ['a header with a line break', { headers: { 'x-a': 'b\r\nc: d' } }, '/connector/headers/x-a'],
    ['a header given twice', { headers: { 'X-A': '1', 'x-a': '2' } }, '/connector/headers/x-a'],
    ['a body type that is not JSON', { headers: { 'content-type': 'text/xml' } }, '/connector/headers/content-type'],
    ['a body with GET', { method: 'GET', body: {} }, '/connector/body'],
    ['a long timeout', { timeoutSeconds: 121 }, '/connector/timeoutSeconds'],
    ['no time', { timeoutSeconds: 0 }, '/connector/timeoutSeconds'],
    ['a large answer', { maxBytes: 262_145 }, '/connector/maxBytes'],
    ['a word for a flag', { idempotent: 'yes' }, '/connector/idempotent'],
    ['a nested query', { query: { a: {} } }, '/connector/query/a'],
    ['an unknown member', { retries: 3 }, '/connector/retries'],
    ['a large one', { body: 'x'.repeat(17_000) }, '/connector'],
    ['many placeholders', { body: Array(101).fill('{input.a}') as string[] }, '/connector'],
  ])('not %s', (_name, parts, pointer) => {
    const check = checkConnector({ type: 'http', method: 'POST', url: 'https://x.test/', ...parts });
    expect(check).toMatchObject({ ok: false, errors: expect.arrayContaining([{ pointer, message: expect.any(String) }]) });
  });

  it('not something else than an object', () => {
    for (const other of [null, [], 'x', 1]) expect(checkConnector(other as JsonValue)).toMatchObject({ ok: false });
  });
});

describe('secrets', () => {
  const parts = {
    headers: { authorization: 'Bearer {secrets.token}', 'x-of': '{input.a}' }, body: { key: '{secrets.key}', a: 'for {input.a}' },
  };
  const input = { a: '{secrets.token}' };

  it('are named by the connector, each once and sorted', () => {
    expect(secretNames(connector(parts))).toEqual(['key', 'token']);
    expect(secretNames(connector({ body: ['{secrets.b}', { c: 'x{secrets.a}{secrets.b}' }] }))).toEqual(['a', 'b']);
    expect(secretNames(connector({ body: { text: 'secrets.a' } }))).toEqual([]);
  });

  it('stand in values of headers and body, and nothing of an input becomes one', () => {
    const secrets = new Map([['token', 't0k{input.a}'], ['key', 'k3y']]);
    const rendered = renderConnector(connector(parts), input, secrets);
    if (!rendered.ok) throw new Error(JSON.stringify(rendered.errors));
    expect(rendered.request.headers).toMatchObject({ authorization: 'Bearer t0k{input.a}', 'x-of': '{secrets.token}' });
    expect(JSON.parse(rendered.request.body!)).toEqual({ key: 'k3y', a: 'for {secrets.token}' });
  });

  it('are no facts: the gate fills in the rest, and leaves them as they are written', () => {
    expect(request(parts, input).headers['authorization']).toBe('Bearer {secrets.token}');
    expect(connectorErrors(connector(parts), {})).toEqual([{ pointer: '/input/a', message: expect.any(String) }]);
  });

  it.each(['a\r\nx-admin: 1', 'ü', 'x'.repeat(9 * 1024)])('that cannot stand in a header are not sent (%#)', (value) => {
    const secrets = new Map([['token', value], ['key', 'k3y']]);
    expect(renderConnector(connector(parts), input, secrets)).toMatchObject({ ok: false });
  });

  it('of the greatest length fit', () => {
    const secrets = new Map([['token', 'x'.repeat(8_192)], ['key', 'k3y']]);
    expect(renderConnector(connector(parts), input, secrets)).toMatchObject({ ok: true });
  });

  it('are part of the digest by their names, and their values are not', () => {
    const digest = definitionDigest({ connector: connector(parts) });
    expect(definitionDigest({ connector: connector({ ...parts, body: { key: '{secrets.other}', a: 'for {input.a}' } }) })).not.toBe(digest);
  });
});

describe('the digest of a definition', () => {
  const base = { connector: connector({ body: { a: 1 } }), inputSchema: { type: 'object' } };

  it('is 43 characters, the same for the same definition, whatever the order of members', () => {
    expect(definitionDigest(base)).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const shuffled = { inputSchema: base.inputSchema,
      connector: Object.fromEntries(Object.entries(base.connector).reverse()) as unknown as HttpConnector };
    expect(definitionDigest(shuffled)).toBe(definitionDigest(base));
  });

  it('changes with each part', () => {
    const others = [
      {}, { connector: base.connector }, { inputSchema: base.inputSchema },
        { ...base, inputSchema: { type: 'object', required: ['a'] } },
      ...(['url', 'method', 'timeoutSeconds', 'maxBytes', 'idempotent', 'body', 'headers', 'query'] as const).map((member) => ({
        ...base, connector: { ...base.connector, [member]: 'changed' } as unknown as HttpConnector,
      })),
    ];
    const digests = [base, ...others].map(definitionDigest);
    expect(new Set(digests).size).toBe(digests.length);
  });

  it('of nothing is the SHA-256 of {"secrets":[]}', () => {
    expect(definitionDigest({})).toBe('uppP0Nkk7AYzrgqMnhCA1X9UxMSty3YAXf6NP_xqjUQ');
  });
});
