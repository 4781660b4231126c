import { describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue } from '../json.js';
import { checkInputSchema, validateInput } from './input-schema.js';

const payment: JsonObject = {
  type: 'object',
  required: ['to', 'amount'],
  additionalProperties: false,
  properties: {
    to: { type: 'string', format: 'email' },
    amount: { type: 'number', exclusiveMinimum: 0, maximum: 1000 },
    lines: { type: 'array', maxItems: 3, items: { $ref: '#/$defs/line' } },
    iban: { type: 'string', pattern: '^[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}$' },
  },
  $defs: { line: { type: 'object', required: ['a/b'], properties: { 'a/b': { type: 'integer' } } } },
};

describe('validating an input', () => {
  it('finds nothing wrong with what fits', () => {
    expect(checkInputSchema(payment)).toEqual({ ok: true });
    expect(validateInput(payment, { to: 'a@example.com', amount: 12.5, lines: [{ 'a/b': 1 }],
      iban: 'DE44500105175407324931' })).toEqual([]);
  });

  it.each<[string, JsonObject, string, RegExp]>([
    ['a missing member', { to: 'a@example.com' }, '/input/amount', /required/],
    ['an extra member', { to: 'a@example.com', amount: 1, cc: 'x' }, '/input/cc', /not allowed/],
    ['a wrong type', { to: 'a@example.com', amount: '1' }, '/input/amount', /number/],
    ['a wrong format', { to: 'nobody', amount: 1 }, '/input/to', /email/],
    ['a wrong pattern', { to: 'a@example.com', amount: 1, iban: 'x' }, '/input/iban', /pattern/],
    ['a bound', { to: 'a@example.com', amount: 1001 }, '/input/amount', /1000/],
    ['a deep member', { to: 'a@example.com', amount: 1, lines: [{ 'a/b': 1 }, {}] }, '/input/lines/1/a~1b', /required/],
    ['a deep wrong type', { to: 'a@example.com', amount: 1, lines: [{ 'a/b': 1.5 }] }, '/input/lines/0/a~1b', /integer/],
  ])('%s', (_name, input, pointer, message) => {
    const errors = validateInput(payment, input);
    expect(errors).toEqual([{ pointer, message: expect.stringMatching(message) }]);
  });

  it('gives one answer for equal schemas and does not mix different ones up', () => {
    const strict = { type: 'object', required: ['x'] };
    expect(validateInput(structuredClone(strict), {})).toHaveLength(1);
    expect(validateInput(structuredClone(strict), { x: 1 })).toEqual([]);
    expect(validateInput({ type: 'object', required: ['y'] }, { x: 1 })).toHaveLength(1);
  });

  it('takes members named like the language for what they are', () => {
    expect(validateInput({ type: 'object', required: ['constructor'] }, {})).toHaveLength(1);
    expect(validateInput({ type: 'object', required: ['constructor'] }, { constructor: 1 })).toEqual([]);
  });

  it('lets nothing through when the stored schema is unusable', () => {
    expect(validateInput({ type: 'nonsense' }, {})).toEqual([{ pointer: '/input',
      message: expect.stringContaining('unusable') }]);
    expect(validateInput({ allOf: [{ $ref: '#' }] }, {})).toHaveLength(1);
  });

  it('is not delayed by an evil pattern, and refuses work without end', () => {
    const evil = { type: 'object', properties: { s: { type: 'string', pattern: '^(a+)+$' } } };
    expect(checkInputSchema(evil)).toEqual({ ok: true });
    expect(validateInput(evil, { s: `${'a'.repeat(50_000)}b` })).toHaveLength(1);
    const two = { type: 'object', properties: { a: { type: 'string', pattern: '^x$' }, b: { type: 'string', pattern: '^y$' } } };
    expect(validateInput(two, { a: 'x', b: 'y' })).toEqual([]);
    expect(validateInput(two, { a: 'x', b: 'x' })).toMatchObject([{ pointer: '/input/b' }]);
    const wide = { type: 'object', properties: { s: { type: 'string', pattern: '^(a{1,50})*$' } } };
    expect(checkInputSchema(wide)).toEqual({ ok: true });
    expect(validateInput(wide, { s: 'a'.repeat(250_000) })).toHaveLength(1);
    expect(validateInput(wide, { s: 'a'.repeat(1_000) })).toEqual([]);
  });

  it('knows draft-07 where the schema says so', () => {
    const tuple = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object',
      properties: { p: { type: 'array', items: [{ type: 'number' }] } } };
    expect(checkInputSchema(tuple)).toEqual({ ok: true });
    expect(validateInput(tuple, { p: ['x'] })).toHaveLength(1);
    expect(checkInputSchema({ ...tuple, $schema: 'https://json-schema.org/draft/2020-12/schema' })).toMatchObject({ ok: false });
  });
});

describe('what a schema may be', () => {
  type Row = [name: string, schema: JsonValue, pointer: string, message: RegExp];
  const nested = (levels: number): JsonObject => (levels === 0 ? {} : { properties: { a: nested(levels - 1) } });
  const doubling: JsonObject = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [`d${n}`,
      n === 0 ? { type: 'string' } as JsonObject : { anyOf: [{ $ref: `#/$defs/d${n - 1}` }, { $ref: `#/$defs/d${n - 1}` }] }]),
  );

  it.each<Row>([
    ['no object', 'string', '/inputSchema', /object/],
    ['a list', [], '/inputSchema', /object/],
    ['too large', { type: 'object', description: 'x'.repeat(17_000) }, '/inputSchema', /16 KiB/],
    ['too deep', nested(20), '/inputSchema/properties/a/properties', /levels/],
    ['a remote reference', { properties: { a: { $ref: 'https://evil.test/schema.json' } } }, '/inputSchema/properties/a/$ref',
      /never fetched/],
    ['a reference to a file', { $ref: 'file:///etc/passwd' }, '/inputSchema/$ref', /never fetched/],
    ['a reference to nothing', { $ref: '#/$defs/none' }, '/inputSchema', /references/],
    ['a reference to itself', { allOf: [{ $ref: '#' }] }, '/inputSchema', /recursive/],
    ['a cycle', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }, '/inputSchema',
      /recursive/],
    ['references that double', { $ref: '#/$defs/d39', $defs: doubling }, '/inputSchema', /too many/],
    ['an id', { $id: 'https://x.test/' }, '/inputSchema/$id', /not supported/],
    ['dynamic references', { $dynamicRef: '#x' }, '/inputSchema/$dynamicRef', /not supported/],
    ['an asynchronous schema', { $async: true }, '/inputSchema/$async', /not supported/],
    ['unique items without a bound', { properties: { a: { type: 'array', uniqueItems: true } } },
      '/inputSchema/properties/a/uniqueItems', /maxItems/],
    ['an unknown type', { type: 'objekt' }, '/inputSchema/type', /object/],
    ['another type than object', { type: 'array' }, '/inputSchema/type', /object/],
    ['an unknown keyword', { type: 'object', propertys: {} }, '/inputSchema', /propertys/],
    ['an unknown format', { properties: { a: { type: 'string', format: 'postcode' } } }, '/inputSchema', /format/],
    ['a pattern of another dialect', { properties: { a: { type: 'string', pattern: '(?=x)' } } }, '/inputSchema', /./],
    ['a pattern that is too large', { properties: { a: { type: 'string', pattern: '(a{1,100}){1,9}' } } }, '/inputSchema',
      /too large/],
    ['a wrong keyword value', { type: 'object', required: 'a' }, '/inputSchema', /required/],
  ] satisfies Row[])('not %s', (_name, schema, pointer, message) => {
    const check = checkInputSchema(schema);
    expect(check.ok).toBe(false);
    if (check.ok) return;
    expect(check.errors[0]!.pointer.startsWith(pointer)).toBe(true);
    expect(check.errors[0]!.message).toMatch(message);
  });

  it('the empty schema, one with references used twice, and unique items with a bound are fine', () => {
    expect(checkInputSchema({})).toEqual({ ok: true });
    expect(checkInputSchema({ properties: { a: { $ref: '#/$defs/x' }, b: { $ref: '#/$defs/x' } },
      $defs: { x: { type: 'string' } } })).toEqual({ ok: true });
    expect(checkInputSchema({ properties: { a: { type: 'array', uniqueItems: true, maxItems: 10 } } })).toEqual({ ok: true });
  });
});
