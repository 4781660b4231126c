import { createHash } from 'node:crypto';
import { jcs } from '../../audit/entry/jcs.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';

/** What an MCP server says of a tool. */
export interface McpTool {
  readonly name: string;
  readonly description?: JsonValue;
  readonly inputSchema?: JsonValue;
  readonly outputSchema?: JsonValue;
  readonly annotations?: JsonValue;
}

/** A tool in an answer to `tools/list`; undefined for what is none. */
export function readTool(value: JsonValue): McpTool | undefined {
  if (!isJsonObject(value) || typeof value['name'] !== 'string') return undefined;
  const { name, description, inputSchema, outputSchema, annotations } = value;
  const described = Object.entries({ description, inputSchema, outputSchema, annotations }).filter(([, member]) => member !== undefined);
  return { name, ...Object.fromEntries(described) };
}

/**
 * SHA-256, base64url without padding (43 characters), of the RFC 8785 form of a tool's name, description, schemas and annotations: what
 * people were told, when they let an agent use it.
 */
export function toolDigest(tool: McpTool): string {
  return createHash('sha256').update(jcs({ ...tool } as JsonObject), 'utf8').digest('base64url');
}

/**
 * The arguments that a tool wants as headers too (`x-mcp-header` in its input schema), by header name. Only what stands directly among
 * properties, however deep, and has the value of a text, a whole number or true or false.
 */
export function mirroredArguments({ inputSchema }: McpTool, input: JsonObject): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  const walk = (schema: JsonValue | undefined, value: JsonValue | undefined): void => {
    if (!isJsonObject(schema) || value === undefined || value === null) return;
    const name = schema['x-mcp-header'];
    const isNamed = typeof name === 'string' && /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name);
    const isPlain = typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isSafeInteger(value));
    if (isNamed && isPlain) headers[`mcp-param-${name.toLowerCase()}`] = headerValue(String(value));
    const { properties } = schema;
    if (!isJsonObject(properties) || !isJsonObject(value)) return;
    for (const [member, part] of Object.entries(properties)) if (Object.hasOwn(value, member)) walk(part, value[member]);
  };
  walk(inputSchema, input);
  return headers;
}

/** A text as MCP puts it into a header: as it is where it is plain, else in base64 with a mark around it. */
export function headerValue(text: string): string {
  const isPlain = /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}
