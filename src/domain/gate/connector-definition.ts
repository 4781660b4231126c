import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { nearestName } from '../nearest-name.js';
import { pathProblem, placeholderProblem, placeholders } from './connector-template.js';
import { checkNodeConnector, NODE_MEMBERS, type NodeConnector } from './connectors/node-connector.js';
import type { InputError } from './input-schema.js';

export const CONNECTOR_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** A capability's connector: the HTTP call that the service makes itself, with templates filled from the input. */
export interface HttpConnector {
  readonly type: 'http';
  readonly method: (typeof CONNECTOR_METHODS)[number];
  /** The origin is literal; path and query may hold `{input.member}`. */
  readonly url: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonValue;
  /** Seconds until the call is given up, retries included. 1 to 120. */
  readonly timeoutSeconds: number;
  /** The most bytes of an answer that are read. 1 to 256 KiB. */
  readonly maxBytes: number;
  /** Whether the receiver may be asked again with the same Idempotency-Key. */
  readonly idempotent: boolean;
}

/** A capability's connector: what the service does itself, or has the agent's node do. */
export type Connector = HttpConnector | NodeConnector;

export type ConnectorCheck =
  | { readonly ok: true; readonly connector: Connector }
  | { readonly ok: false; readonly errors: readonly InputError[] };

export const CONNECTOR_DEFAULTS = { timeoutSeconds: 30, maxBytes: 256 * 1024, idempotent: false } as const;
export const CONNECTOR_BYTES_MAX = 16 * 1024;
const PLACEHOLDERS_MAX = 100;
const HTTP_MEMBERS = new Set(['type', 'method', 'url', 'query', 'headers', 'body', 'timeoutSeconds', 'maxBytes', 'idempotent']);

// They frame the message or speak to the next hop; a template must not. The last two the service sets itself.
const FORBIDDEN_HEADERS = new Set([
  'host', 'content-length', 'content-encoding', 'transfer-encoding', 'connection', 'keep-alive', 'te', 'trailer', 'upgrade',
  'expect', 'idempotency-key', 'traceparent',
]);
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;

/** Reads a connector's definition: known members only, defaults filled in, so that equal connectors digest equally. */
export function checkConnector(definition: JsonValue): ConnectorCheck {
  const errors: InputError[] = [];
  const wrong = (pointer: string, message: string): void => void errors.push({ pointer: `/connector${pointer}`, message });
  if (!isJsonObject(definition)) return { ok: false, errors: [{ pointer: '/connector', message: 'must be an object' }] };
  if (Buffer.byteLength(JSON.stringify(definition)) > CONNECTOR_BYTES_MAX) wrong('', 'must have at most 16 KiB');
  const isNode = definition.type === 'node';
  const known: readonly string[] = isNode ? NODE_MEMBERS : [...HTTP_MEMBERS];
  for (const member of Object.keys(definition)) {
    if (known.includes(member)) continue;
    const meant = nearestName(member, known);
    wrong(`/${member}`, `is not known here; ${meant === undefined ? `known are ${known.join(', ')}` : `did you mean ${meant}?`}`);
  }
  if (isNode) {
    const connector = checkNodeConnector(definition, wrong);
    return errors.length > 0 ? { ok: false, errors } : { ok: true, connector };
  }
  const { type, method, url, query, headers, body } = definition;
  if (type !== 'http') wrong('/type', type === 'mcp' || type === 'email' ? 'is not available yet' : 'must be http or node');
  if (!isMethod(method)) wrong('/method', `must be one of ${CONNECTOR_METHODS.join(', ')}`);
  if (typeof url !== 'string') wrong('/url', 'is required');
  else checkUrlTemplate(url, wrong);
  if (query !== undefined) checkQuery(query, wrong);
  if (headers !== undefined) checkHeaders(headers, wrong);
  if (body !== undefined) {
    if (method === 'GET' || method === 'HEAD') wrong('/body', `must not be given with ${method}`);
    checkTexts(body, '/body', wrong);
  }
  const timeoutSeconds = numberWithin(definition, 'timeoutSeconds', 1, 120, wrong);
  const maxBytes = numberWithin(definition, 'maxBytes', 1, CONNECTOR_DEFAULTS.maxBytes, wrong);
  const idempotent = definition.idempotent ?? CONNECTOR_DEFAULTS.idempotent;
  if (typeof idempotent !== 'boolean') wrong('/idempotent', 'must be true or false');
  if (placeholders(JSON.stringify(definition)).length > PLACEHOLDERS_MAX) {
    wrong('', `must have at most ${PLACEHOLDERS_MAX} placeholders`);
  }
  if (errors.length > 0) return { ok: false, errors };
  const given = Object.fromEntries(Object.entries({ query, headers, body }).filter(([, value]) => value !== undefined));
  return { ok: true, connector: { type, method, url, ...given, timeoutSeconds, maxBytes, idempotent } as HttpConnector };
}

/** A connector as it may have been given: the bounds of its size are those of what is given. */
export function withoutDefaults(connector: JsonObject): JsonObject {
  const defaults = new Map<string, JsonValue>(Object.entries(CONNECTOR_DEFAULTS));
  return Object.fromEntries(Object.entries(connector).filter(([name, value]) => !defaults.has(name) || defaults.get(name) !== value));
}

type Wrong = (pointer: string, message: string) => void;

function isMethod(value: unknown): boolean {
  return (CONNECTOR_METHODS as readonly unknown[]).includes(value);
}

function checkUrlTemplate(url: string, wrong: Wrong): void {
  const match = /^(https?):\/\/([^/?#{}\\@\s]+)(\/[^?#]*)?(\?[^#]*)?$/i.exec(url);
  if (!match) return wrong('/url', 'must be http or https with a literal host, without credentials or fragment');
  if (/[\u0000-\u0020\u007f\\]/.test(url)) return wrong('/url', 'must not have blanks, control signs or backslashes');
  const problem = placeholderProblem(url);
  if (problem) return wrong('/url', problem);
  const plain = url.replace(/\{input(\.[A-Za-z0-9_$-]+)+\}/g, 'x');
  if (/[{}]/.test(plain)) return wrong('/url', 'has braces that are not a placeholder {input.member}');
  if (!URL.canParse(plain)) return wrong('/url', 'is not a valid address');
  const inPath = pathProblem((match[3] ?? '').replace(/\{input(\.[A-Za-z0-9_$-]+)+\}/g, 'x'));
  if (inPath) wrong('/url', inPath);
}

function checkQuery(query: JsonValue, wrong: Wrong): void {
  if (!isJsonObject(query)) return wrong('/query', 'must be an object');
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      wrong(`/query/${name}`, 'must be a text, a number or true or false');
    } else checkTexts(value, `/query/${name}`, wrong);
  }
}

function checkHeaders(headers: JsonValue, wrong: Wrong): void {
  if (!isJsonObject(headers)) return wrong('/headers', 'must be an object');
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (!HEADER_NAME.test(name)) wrong(`/headers/${name}`, 'is not a header name');
    else if (FORBIDDEN_HEADERS.has(lower) || lower.startsWith('proxy-')) wrong(`/headers/${name}`, 'is set by the service');
    else if (seen.has(lower)) wrong(`/headers/${name}`, 'is given twice');
    else if (typeof value !== 'string' || !/^[\t\x20-\x7e]*$/.test(value)) {
      wrong(`/headers/${name}`, 'must be printable ASCII text');
    }
    else if (lower === 'content-type' && !/^application\/([a-z0-9.-]+\+)?json(;.*)?$/i.test(value)) {
      wrong(`/headers/${name}`, 'must be JSON: bodies always are');
    } else checkTexts(value, `/headers/${name}`, wrong);
    seen.add(lower);
  }
}

function checkTexts(value: JsonValue, pointer: string, wrong: Wrong): void {
  if (typeof value === 'string') {
    const problem = placeholderProblem(value);
    if (problem) wrong(pointer, problem);
  } else if (Array.isArray(value)) value.forEach((element, index) => checkTexts(element, `${pointer}/${index}`, wrong));
  else if (isJsonObject(value)) {
    for (const [name, content] of Object.entries(value)) {
      if (placeholders(name).length > 0) wrong(`${pointer}/${name}`, 'names of members are literal');
      checkTexts(content, `${pointer}/${name}`, wrong);
    }
  }
}

function numberWithin(
  definition: JsonObject,
  member: 'timeoutSeconds' | 'maxBytes',
  min: number,
  max: number,
  wrong: Wrong,
): number {
  const value = definition[member] ?? CONNECTOR_DEFAULTS[member];
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  wrong(`/${member}`, `must be a whole number from ${min} to ${max}`);
  return CONNECTOR_DEFAULTS[member];
}
