import { isJsonObject, type JsonObject, type JsonValue } from '../json.js';
import { type Connector, CONNECTOR_DEFAULTS, type HttpConnector } from './connector-definition.js';
import { pathProblem, placeholders, type Placeholder } from './connector-template.js';
import type { InputError } from './input-schema.js';

export {
  checkConnector, type Connector, CONNECTOR_BYTES_MAX, type ConnectorCheck, type HttpConnector, withoutDefaults,
} from './connector-definition.js';
export type { NodeConnector } from './connectors/node-connector.js';
export type { InputError } from './input-schema.js';

/** Rendered request bodies are bounded: a template may name a large member often. */
export const RENDERED_BODY_BYTES_MAX = 1024 * 1024;
export const RENDERED_URL_MAX = 8 * 1024;
const RENDERED_HEADER_MAX = 8 * 1024;

/** A request ready to be sent: header names in lower case, `body` as JSON text. */
export interface RenderedRequest {
  readonly method: HttpConnector['method'];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type Rendered =
  | { readonly ok: true; readonly request: RenderedRequest }
  | { readonly ok: false; readonly errors: readonly InputError[] };

class Unfit extends Error {
  constructor(
    readonly pointer: string,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Fills a connector's templates with an input, in one pass: a value that looks like a placeholder stays a value.
 * Errors are the caller's input's: a member that is missing, or that cannot stand where the template puts it.
 */
export function renderConnector(connector: HttpConnector, input: JsonObject): Rendered {
  try {
    const url = renderUrl(connector, input);
    const body = connector.body === undefined ? undefined : JSON.stringify(fill(connector.body, input));
    if (body !== undefined && Buffer.byteLength(body) > RENDERED_BODY_BYTES_MAX) {
      throw new Unfit('/input', 'makes a request body of more than 1 MiB');
    }
    const headers = renderHeaders(connector, input, body !== undefined);
    return { ok: true, request: { method: connector.method, url, headers, ...(body === undefined ? {} : { body }) } };
  } catch (problem) {
    if (problem instanceof Unfit) return { ok: false, errors: [{ pointer: problem.pointer, message: problem.message }] };
    throw problem;
  }
}

/** Why a connector cannot do what an input asks for; nothing where it can. */
export function connectorErrors(connector: Connector, input: JsonObject): readonly InputError[] {
  // A node gets the input as it stands, which has its own bound.
  if (connector.type === 'node') return [];
  const rendered = renderConnector(connector, input);
  return rendered.ok ? [] : rendered.errors;
}

/** How long the call may take, in milliseconds. */
export function connectorTimeoutMs(connector: HttpConnector): number {
  return (connector.timeoutSeconds ?? CONNECTOR_DEFAULTS.timeoutSeconds) * 1000;
}

function renderUrl(connector: HttpConnector, input: JsonObject): string {
  const [, origin = '', path = '', query] = /^(https?:\/\/[^/?#]+)([^?#]*)(?:\?([^#]*))?$/i.exec(connector.url) ?? [];
  // A stored definition was checked. This check is for a row that somebody edited with SQL: its call goes nowhere.
  if (!origin) throw new Unfit('/input', 'cannot be sent: the connector has no usable address');
  const renderedPath = interpolate(path, input, (text, at) => {
    if (text === '') throw new Unfit(at.pointer, 'must not be empty: it stands in a path');
    return encode(text, at);
  });
  const problem = pathProblem(renderedPath);
  if (problem) throw new Unfit(placeholders(path)[0]?.pointer ?? '/input', problem);
  const queries = query === undefined ? [] : [interpolate(query, input, encode)];
  for (const [name, value] of Object.entries(connector.query ?? {})) {
    queries.push(`${encodeURIComponent(name)}=${interpolate(String(value), input, encode, encodeURIComponent)}`);
  }
  const url = `${origin}${renderedPath || '/'}${queries.length > 0 ? `?${queries.filter(Boolean).join('&')}` : ''}`;
  if (url.length > RENDERED_URL_MAX) throw new Unfit('/input', 'makes an address of more than 8 KiB');
  return url;
}

function renderHeaders(connector: HttpConnector, input: JsonObject, hasBody: boolean): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (hasBody) headers['content-type'] = 'application/json';
  for (const [name, template] of Object.entries(connector.headers ?? {})) {
    const value = interpolate(template, input, (text, at) => {
      if (!/^[\t\x20-\x7e]*$/.test(text)) throw new Unfit(at.pointer, 'may only have printable ASCII: it stands in a header');
      return text;
    });
    if (value.length > RENDERED_HEADER_MAX) throw new Unfit('/input', 'makes a header of more than 8 KiB');
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** The body: a text that is exactly one placeholder takes the JSON value, others take text. */
function fill(template: JsonValue, input: JsonObject): JsonValue {
  if (typeof template === 'string') {
    const [only, more] = placeholders(template);
    if (only && !more && only.text === template) return valueAt(input, only);
    return interpolate(template, input, (text) => text);
  }
  if (Array.isArray(template)) return template.map((element) => fill(element, input));
  if (!isJsonObject(template)) return template;
  return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, fill(value, input)]));
}

function interpolate(
  template: string,
  input: JsonObject,
  written: (text: string, at: Placeholder) => string,
  literal: (text: string) => string = (text) => text,
): string {
  let done = 0;
  let result = '';
  for (const placeholder of placeholders(template)) {
    result += literal(template.slice(done, placeholder.start)) + written(textAt(input, placeholder), placeholder);
    done = placeholder.start + placeholder.text.length;
  }
  return result + literal(template.slice(done));
}

function encode(text: string, at: Placeholder): string {
  try {
    return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  } catch {
    throw new Unfit(at.pointer, 'is not well-formed Unicode');
  }
}

function textAt(input: JsonObject, placeholder: Placeholder): string {
  const value = valueAt(input, placeholder);
  if (value === null || typeof value === 'object') {
    throw new Unfit(placeholder.pointer, 'must be a text, a number or true or false: it stands inside a text');
  }
  return String(value);
}

function valueAt(input: JsonObject, { path, pointer }: Placeholder): JsonValue {
  let value: JsonValue = input;
  for (const name of path) {
    // Own members only: `{input.constructor}` must not reach the language's objects.
    const holder: JsonValue = value;
    const there: boolean = Array.isArray(holder) ? /^(0|[1-9]\d*)$/.test(name) && Number(name) < holder.length
      : isJsonObject(holder) && Object.hasOwn(holder, name);
    if (!there) throw new Unfit(pointer, 'is required by the connector');
    value = (holder as JsonObject)[name]!;
  }
  return value;
}
