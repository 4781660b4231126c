import { describe, expect, test } from '@jest/globals';
import { Countersign, type CountersignError, type Shown } from '@countersign/sdk';
import { readFileSync } from 'node:fs';
import { mayBeEmpty, takesIdempotencyKey } from '../../sdk/src/operation.js';
import { rejection } from '../support/sdk/callers.js';
import { ROOT_KEY } from '../support/servers/test-run.js';

// What is refused before anything is sent: nobody listens at that address.
const URL_OF_NOBODY = 'http://127.0.0.1:9';
const sdk = new Countersign({ url: URL_OF_NOBODY, credential: ROOT_KEY });

const thrownBy = (make: () => unknown): CountersignError => {
  try {
    make();
  } catch (error) {
    return error as CountersignError;
  }
  throw new Error('nothing was thrown');
};

describe('an input that is no I-JSON is refused with its pointer', () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = { circle };
  let deep: unknown = 1;
  for (let level = 0; level < 70; level++) deep = [deep];
  test.each<[string, Record<string, unknown>, string]>([
    ['undefined', { a: { b: undefined } }, '/input/a/b'],
    ['NaN', { n: NaN }, '/input/n'],
    ['Infinity', { n: [1, Infinity] }, '/input/n/1'],
    ['2^53', { n: 2 ** 53 }, '/input/n'],
    ['-2^53', { n: -(2 ** 53) }, '/input/n'],
    ['1e300', { n: 1e300 }, '/input/n'],
    ['a bigint', { n: 1n }, '/input/n'],
    ['a function', { f: () => 1 }, '/input/f'],
    ['a symbol', { s: Symbol('s') }, '/input/s'],
    ['a lone surrogate', { t: 'a\ud800' }, '/input/t'],
    ['a lone surrogate in a name', { 't\udc00': 1 }, '/input/t\udc00'],
    ['a NUL', { t: 'a\0' }, '/input/t'],
    ['a hole', { list: [1, , 2] }, '/input/list/1'], // eslint-disable-line no-sparse-arrays -- it is what is tried
    ['a date', { at: new Date(0) }, '/input/at'],
    ['a map', { m: new Map() }, '/input/m'],
    ['a name with signs of pointers', { 'a/b~c': NaN }, '/input/a~1b~0c'],
    ['__proto__', JSON.parse('{"x": {"__proto__": 1}}') as Record<string, unknown>, '/input/x/__proto__'],
    ['a circle', circle, '/input/self/circle'],
    ['too deep', { deep }, `/input/deep${'/0'.repeat(62)}`],
  ])('%s', async (_, input, pointer) => {
    const error = await rejection(sdk.execute('web.search', input)) as CountersignError;
    expect(error).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ pointer, message: expect.stringMatching(/./) }] });
    expect(error.status).toBeUndefined();
  });
});

describe('an address that is none', () => {
  test.each([
    ['no URL', 'countersign'], ['nothing', undefined], ['another protocol', 'ftp://a.example'], ['with /api/v1', 'https://a.example/api/v1/'],
    ['with /api', 'https://a.example/api'], ['with a credential', 'https://me:secret-word@a.example'], ['with a query', 'https://a.example/?k=secret-word'],
  ])('%s', (_, url) => {
    const error = thrownBy(() => new Countersign({ url: url as string, credential: ROOT_KEY }));
    expect(error).toMatchObject({ code: 'INVALID_OPTIONS', detail: expect.stringMatching(/^The address of the service .*\.$/) });
    expect(error.message).not.toContain('secret-word');
  });

  test('a path in front of the service is kept', () => {
    expect(() => new Countersign({ url: 'https://a.example/governance/', credential: ROOT_KEY })).not.toThrow();
  });
});

describe('a credential that is none', () => {
  test.each([
    ['nothing', undefined], ['empty', ''], ['half of a key', ROOT_KEY.slice(0, -4)], ['an unknown kind', `svc_boot_${'a'.repeat(64)}`],
    ['with a line break', `${ROOT_KEY}\n`], ['of other signs', `${'ü'.repeat(40)}`], ['short', 'hunter2'], ['a number', 42],
  ])('%s, and no message repeats it', (_, credential) => {
    const error = thrownBy(() => new Countersign({ url: URL_OF_NOBODY, credential: credential as string }));
    expect(error.code).toBe('INVALID_OPTIONS');
    if (typeof credential === 'string' && credential !== '') expect(error.message).not.toContain(credential);
  });
});

describe('what there is not would not be obeyed, so it is refused before anything is sent', () => {
  const call = (more: object) => sdk.execute('web.search', {}, more);
  test.each<[string, () => unknown, RegExp]>([
    ['an option of execute', () => call({ wait: true }), /^execute has no option wait; there are action, context, agentId,/],
    ['of waitFor', () => sdk.waitFor('hitl_1', { timeoutMs: 1 } as object), /^waitFor has no option timeoutMs/],
    ['of a governed function', () => sdk.governed(() => 1, 'web.search', { retries: 1 } as object)({}), /^execute has no option retries/],
    ['of a call', () => sdk.agents.list({}, { timeout: 5 } as object), /^A call has no option timeout; there are path, query, body,/],
    ['of events', () => sdk.hitl.events({ lastId: '1' } as object).next(), /^events has no option lastId/],
    ['a signal that is none', () => sdk.agents.list({}, { signal: {} as AbortSignal }), /^signal must be an AbortSignal/],
    ['for events', () => sdk.hitl.events({ signal: {} as AbortSignal }).next(), /^signal must be an AbortSignal/],
    ['options that are a text', () => sdk.agents.list({}, 'fast' as unknown as object), /^A call has no option 0/],
    ['no operation', () => sdk.request('nonsense' as 'GET /api/v1/agents', {}), /^An operation is named by its method and path, such as/],
    ['no name of one', () => sdk.request(undefined as unknown as 'GET /api/v1/agents', {}), /^An operation is named/],
    ['an approval of what nobody was shown', () => sdk.hitl.approve({ id: 'hitl_1' } as Shown), /^A decision is of/],
    ['a rejection of nothing', () => sdk.hitl.reject(undefined as never), /^A decision is of/],
  ])('%s', async (_, make, detail) => {
    expect(await rejection(make() as Promise<unknown>)).toMatchObject({ code: 'INVALID_OPTIONS', detail: expect.stringMatching(detail) });
  });

  test.each<[string, unknown, RegExp]>([
    ['an option of the client', { url: URL_OF_NOBODY, credential: ROOT_KEY, apiKey: ROOT_KEY },
      /^Countersign has no option apiKey; there are url,/],
    ['a key in place of options', ROOT_KEY, /^The options of Countersign must be an object\.$/],
    ['nothing', undefined, /must be an object/],
    ['null as its credential', { url: URL_OF_NOBODY, credential: null }, /^The credential is none/],
  ])('%s', (_, options, detail) => {
    const error = thrownBy(() => new Countersign(options as ConstructorParameters<typeof Countersign>[0]));
    expect(error).toMatchObject({ code: 'INVALID_OPTIONS', detail: expect.stringMatching(detail) });
    expect(error.message).not.toContain(ROOT_KEY.slice(9));
  });
});

test.each(['', '.', '..', undefined, 7])('an id that would be another path (%p) is refused', async (id) => {
  expect(await rejection(sdk.agents.get(id as string))).toMatchObject({ code: 'INVALID_OPTIONS' });
});

test('which operations take a key is what the document says', () => {
  const { paths } = JSON.parse(readFileSync('openapi.json', 'utf8')) as
    { paths: Record<string, Record<string, { operationId: string; parameters?: { $ref?: string }[] }>> };
  const said = Object.entries(paths).flatMap(([path, item]) => Object.entries(item).map(([method, { parameters = [] }]) => ({
    operation: `${method.toUpperCase()} ${path}`, takes: parameters.some(({ $ref }) => $ref?.endsWith('/IdempotencyKey') ?? false),
  }))).filter(({ operation }) => / \/(api|internal)\//.test(operation));
  const wrong = said.filter(({ operation, takes }) => takesIdempotencyKey(...(operation.split(' ') as [string, string])) !== takes);
  expect(wrong).toEqual([]);
  expect(said.filter(({ takes }) => takes).length).toBeGreaterThan(30);
});

test('which operations answer nothing is what the document says', () => {
  const { paths } = JSON.parse(readFileSync('openapi.json', 'utf8')) as { paths: Record<string, Record<string, { responses?: object }>> };
  const empty = Object.entries(paths).flatMap(([path, item]) => Object.entries(item)
    .filter(([, { responses = {} }]) => '204' in responses).map(([method]) => `${method.toUpperCase()} ${path}`));
  expect(empty.length).toBeGreaterThan(15);
  expect(empty.filter((operation) => !mayBeEmpty(operation))).toEqual([]);
});
