import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../json.js';
import { checkConnector, type Connector, connectorErrors, type EmailConnector, originOf, renderEmail, secretNames } from '../connector.js';
import { headerValue, mirroredArguments, toolDigest } from './mcp-tool.js';

const MCP: JsonObject = { type: 'mcp', url: 'https://tools.test/mcp', tool: 'create' };
const EMAIL: JsonObject = { type: 'email', to: '{input.to}', subject: 'Order {input.id}', text: 'Dear {input.name}' };

function made(definition: JsonObject): Connector {
  const check = checkConnector(definition);
  if (!check.ok) throw new Error(JSON.stringify(check.errors));
  return check.connector;
}

function errorsOf(definition: JsonObject) {
  const check = checkConnector(definition);
  return check.ok ? [] : check.errors;
}

describe('a connector to an MCP tool', () => {
  it('has the defaults of a call by HTTP', () => {
    expect(made({ ...MCP, headers: { authorization: 'Bearer {secrets.t}' } })).toEqual({
      ...MCP, headers: { authorization: 'Bearer {secrets.t}' }, timeoutSeconds: 30, maxBytes: 262_144, idempotent: false,
    });
    expect(secretNames(made({ ...MCP, headers: { a: '{secrets.t}' } }))).toEqual(['t']);
    expect(originOf(made(MCP))).toBe('https://tools.test');
  });

  it.each<[string, JsonObject, string]>([
    ['no tool', { tool: '' }, '/connector/tool'],
    ['a tool with a line break', { tool: 'a\nb' }, '/connector/tool'],
    ['input in the address', { url: 'https://tools.test/{input.a}' }, '/connector/url'],
    ['a secret in the address', { url: 'https://tools.test/{secrets.a}' }, '/connector/url'],
    ['a program', { url: 'stdio:npx' }, '/connector/url'],
    ['input in a header', { headers: { 'x-a': '{input.a}' } }, '/connector/headers/x-a'],
    ['a header of the protocol', { headers: { 'Mcp-Session-Id': 'x' } }, '/connector/headers/Mcp-Session-Id'],
    ['a member of another type', { body: {} }, '/connector/body'],
    ['a command', { command: 'npx' }, '/connector/command'],
    ['a digest of another form', { toolDigest: 'x' }, '/connector/toolDigest'],
  ])('not with %s', (_name, parts, pointer) => {
    expect(errorsOf({ ...MCP, ...parts })).toContainEqual({ pointer, message: expect.any(String) });
  });

  it('knows a tool by what was told of it', () => {
    const tool = { name: 'create', description: 'd', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
    const others = [
      { ...tool, description: 'e' }, { ...tool, name: 'c' }, { ...tool, inputSchema: {} }, { ...tool, outputSchema: {} },
      { ...tool, annotations: {} }, { name: 'create' },
    ];
    expect(new Set([tool, ...others].map(toolDigest)).size).toBe(7);
    const { annotations, inputSchema } = tool;
    expect(toolDigest({ annotations, inputSchema, description: 'd', name: 'create' })).toBe(toolDigest(tool));
  });

  it('shows arguments in headers where the tool asks for them', () => {
    const inputSchema = {
      properties: { a: { 'x-mcp-header': 'Region' }, b: { properties: { c: { 'x-mcp-header': 'N' } } }, d: { 'x-mcp-header': 'bad name' } },
    };
    const tool = { name: 't', inputSchema };
    expect(mirroredArguments(tool, { a: 'ü', b: { c: 7 }, d: 'x' })).toEqual({ 'mcp-param-region': '=?base64?w7w=?=', 'mcp-param-n': '7' });
    expect(mirroredArguments(tool, { a: null, b: { c: {} } })).toEqual({});
    expect(headerValue('=?base64?eA==?=')).toBe('=?base64?PT9iYXNlNjQ/ZUE9PT89?=');
    expect(headerValue('a\r\nb: c')).not.toMatch(/[\r\n]/);
  });
});

describe('a connector that sends a mail', () => {
  const rendered = (parts: JsonObject, input: JsonObject) => renderEmail(made({ ...EMAIL, ...parts }) as EmailConnector, input);
  const input = { to: 'ada@example.org', id: 7, name: '<b>Ada</b>' };

  it('fills its texts in, and escapes what comes into HTML', () => {
    const parts = { cc: ['{input.to}', 'b@example.org'], html: '<p>{input.name}</p>', replyTo: 'desk@example.org' };
    expect(rendered(parts, input)).toEqual({
      ok: true,
      request: {
        to: ['ada@example.org'], cc: ['ada@example.org', 'b@example.org'], bcc: [], subject: 'Order 7', text: 'Dear <b>Ada</b>',
        html: '<p>&lt;b&gt;Ada&lt;/b&gt;</p>', replyTo: 'desk@example.org',
      },
    });
    const inPart = { to: '{input.name}@example.org', cc: [...Array<string>(50).fill('{input.to}')], replyTo: '{input.to}' };
    expect(errorsOf({ ...EMAIL, ...inPart })).toEqual([]);
    const to = ['a@example.org', 'b@example.org'];
    expect(rendered({}, { ...input, to })).toMatchObject({ request: { to } });
  });

  it.each<[string, JsonObject, string]>([
    ['a line break in a recipient', { to: 'ada@example.org\r\nBcc: x@example.org' }, '/input/to'],
    ['a name beside an address', { to: 'Ada <ada@example.org>' }, '/input/to'],
    ['two addresses in one', { to: 'a@example.org,b@example.org' }, '/input/to'],
    ['an encoded word in an address', { to: '=?utf-8?Q?ada?=@example.org' }, '/input/to'],
    ['no recipient', { to: [] }, '/input/to'],
    ['51 recipients', { to: Array(51).fill('a@example.org') }, '/input/to'],
    ['a recipient that is none', { to: { a: 1 } }, '/input/to'],
    ['a line break in the subject', { id: '7\nBcc: x@example.org' }, '/input/id'],
    ['a long subject', { id: 'x'.repeat(600) }, '/input/id'],
    ['a large mail', { name: 'x'.repeat(1_100_000) }, '/input'],
    ['a list in the text', { name: ['x'] }, '/input/name'],
  ])('not with %s', (_name, parts, pointer) => {
    expect(connectorErrors(made(EMAIL), { ...input, ...parts })).toEqual([{ pointer, message: expect.any(String) }]);
  });

  it.each<[string, JsonObject, string]>([
    ['a secret', { text: '{secrets.k}' }, '/connector/text'],
    ['a secret among recipients', { bcc: ['{secrets.k}'] }, '/connector/bcc/0'],
    ['a subject of two lines', { subject: 'a\nb' }, '/connector/subject'],
    ['51 recipients', { to: Array(51).fill('a@example.org') }, '/connector/to'],
    ['51 recipients in all', { to: Array(40).fill('a@example.org'), cc: Array(11).fill('a@example.org') }, '/connector/to'],
    ['a recipient that is no address', { to: 'no address' }, '/connector/to'],
    ['a line break in a recipient', { cc: ['a@example.org\r\nBcc: x@example.org'] }, '/connector/cc/0'],
    ['a name beside an address', { bcc: ['Ada <a@example.org>'] }, '/connector/bcc/0'],
    ['an answer to nobody', { replyTo: 'nonsense' }, '/connector/replyTo'],
    ['a sender', { from: 'x@example.org' }, '/connector/from'],
    ['a text that is none', { text: 1 }, '/connector/text'],
    ['a repetition', { idempotent: true }, '/connector/idempotent'],
  ])('is not defined with %s', (_name, parts, pointer) => {
    expect(errorsOf({ ...EMAIL, ...parts })).toContainEqual({ pointer, message: expect.any(String) });
  });
});
