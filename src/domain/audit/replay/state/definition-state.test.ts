import { describe, expect, it } from '@jest/globals';
import { doublingSchema } from '../../../../../test/support/routes/doubling-schema.js';
import { checkConnector, CONNECTOR_BYTES_MAX } from '../../../gate/connector.js';
import type { JsonObject, JsonValue } from '../../../json.js';
import { connectorIn, schemaIn } from './definition-state.js';

describe('a schema', () => {
  it.each<[JsonValue]>([
    [{}], [{ type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { type: 'string' } } }], [doublingSchema(5)],
  ])('%j', (value) => {
    expect(schemaIn(value)).toBe(value);
  });

  it('is null where nothing is said of one', () => {
    expect(schemaIn(undefined)).toBeNull();
  });

  it.each<[string, JsonValue]>([
    ['no object', []], ['text that is no Unicode', { title: '\ud800' }], ['a word that no schema has', { type: 'garbage' }],
    ['references that double the work forty times', doublingSchema(40)], ['a reference to itself', { $defs: { a: { $ref: '#/$defs/a' } } }],
    ['too much text', { title: 'x'.repeat(16 * 1024) }],
  ])('is none: %s', (_, value) => {
    expect(schemaIn(value)).toBeUndefined();
  });
});

describe('a connector', () => {
  const given = (more: object = {}): JsonObject => ({ type: 'http', method: 'POST', url: 'https://example.com/{input.a}', ...more });
  /** As it is stored, and recorded. */
  const stored = (definition: JsonObject): JsonValue => {
    const check = checkConnector(definition);
    if (!check.ok) throw new Error(JSON.stringify(check.errors));
    return check.connector as unknown as JsonValue;
  };
  const tool = (header: string): JsonObject => ({ type: 'mcp', url: 'https://example.com/mcp', tool: 'do', headers: { a: header } });
  const largeTool = tool('x'.repeat(CONNECTOR_BYTES_MAX - JSON.stringify(tool('')).length));
  const filled = given({ body: 'x'.repeat(CONNECTOR_BYTES_MAX - JSON.stringify(given({ body: '' })).length) });

  it.each<[string, JsonObject]>([
    ['that says little', given()],
    ['that says all', given({ timeoutSeconds: 30, maxBytes: 1, idempotent: true, query: { a: 1 }, headers: { a: 'b' } })],
    ['as large as it may be given', filled],
    ['to a tool, as large as it may be given, with what was found of the tool', { ...largeTool, toolDigest: 'A'.repeat(43) }],
    ['that names secrets', given({ headers: { a: 'Bearer {secrets.b}' }, body: { c: '{secrets.d}' } })],
    ['that sends a mail', { type: 'email', to: ['{input.a}'], subject: 's', text: 't' }],
  ])('%s', (_, definition) => {
    const value = stored(definition);
    expect(connectorIn(value)).toBe(value);
  });

  it('is null where nothing is said of one', () => {
    expect(connectorIn(undefined)).toBeNull();
  });

  it.each<[string, JsonValue]>([
    ['no object', []], ['one without an address', { type: 'http', method: 'POST' }],
    ['one with a member that none has', given({ more: 1 })],
    ['one with more placeholders than a route takes', given({ body: '{input.a}'.repeat(101) })],
    ['one that is too large', given({ body: 'x'.repeat(CONNECTOR_BYTES_MAX) })],
  ])('is none: %s', (_, value) => {
    expect(connectorIn(value)).toBeUndefined();
  });
});
