import type { JsonObject } from '../json.js';
import type { Connector } from './connector-definition.js';
import { pathProblem, placeholders, type Placeholder } from './connector-template.js';
import { CONNECTOR_DEFAULTS } from './connectors/connector-fields.js';
import type { EmailConnector } from './connectors/email-connector.js';
import { fill, fillHeaders, interpolate, Unfit, type Values } from './connectors/fill.js';
import type { HttpConnector } from './connectors/http-connector.js';
import type { McpConnector } from './connectors/mcp-connector.js';
import { type RenderedMail, renderMail } from './connectors/rendered-mail.js';
import type { InputError } from './input-schema.js';

export {
  bearsRepetition, checkConnector, type Connector, CONNECTOR_BYTES_MAX, type ConnectorCheck, originOf, secretNames, withoutDefaults,
} from './connector-definition.js';
export type { EmailConnector } from './connectors/email-connector.js';
export type { HttpConnector } from './connectors/http-connector.js';
export type { McpConnector } from './connectors/mcp-connector.js';
export type { RenderedMail } from './connectors/rendered-mail.js';
export type { InputError } from './input-schema.js';

/** Rendered request bodies are bounded: a template may name a large member often. */
export const RENDERED_BODY_BYTES_MAX = 1024 * 1024;
export const RENDERED_URL_MAX = 8 * 1024;

/** Values of secrets by name. */
export type SecretValues = ReadonlyMap<string, string>;

/** A request ready to be sent: header names in lower case, `body` as JSON text. */
export interface RenderedRequest {
  readonly method: HttpConnector['method'];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type Rendering<Made> =
  | { readonly ok: true; readonly request: Made }
  | { readonly ok: false; readonly errors: readonly InputError[] };
export type Rendered = Rendering<RenderedRequest>;

/**
 * Fills an HTTP connector's templates with an input, in one pass: a value that looks like a placeholder stays a value.
 * Errors are the caller's input's: a member that is missing, or that cannot stand where the template puts it.
 *
 * @param secrets values of all secrets that it names; without them `{secrets.name}` stays, and what comes of it is not to be sent
 */
export function renderConnector(connector: HttpConnector, input: JsonObject, secrets?: SecretValues): Rendered {
  return rendering(() => {
    const values = { input, ...(secrets === undefined ? {} : { secrets }) };
    const url = renderUrl(connector, input);
    const body = connector.body === undefined ? undefined : JSON.stringify(fill(connector.body, values));
    if (body !== undefined && Buffer.byteLength(body) > RENDERED_BODY_BYTES_MAX) {
      throw new Unfit('/input', 'makes a request body of more than 1 MiB');
    }
    const headers = renderHeaders(connector, values, body !== undefined);
    return { method: connector.method, url, headers, ...(body === undefined ? {} : { body }) };
  });
}

/** The headers of a call of an MCP tool, which hold nothing of its input. */
export function renderMcpHeaders({ headers }: McpConnector, secrets: SecretValues): Rendering<Record<string, string>> {
  return rendering(() => fillHeaders(headers ?? {}, { input: {}, secrets }));
}

export function renderEmail(connector: EmailConnector, input: JsonObject): Rendering<RenderedMail> {
  return rendering(() => renderMail(connector, input));
}

/** Why a connector cannot do what an input asks for; nothing where it can. */
export function connectorErrors(connector: Connector, input: JsonObject): readonly InputError[] {
  switch (connector.type) {
    case 'http':
      return errorsOf(renderConnector(connector, input));
    case 'email':
      return errorsOf(renderEmail(connector, input));
    case 'mcp':
      // The arguments are the input as it stands, which has its own bound.
      return [];
  }
}

/** How long the call may take, in milliseconds. */
export function connectorTimeoutMs(connector: Connector): number {
  return (connector.timeoutSeconds ?? CONNECTOR_DEFAULTS.timeoutSeconds) * 1000;
}

function errorsOf(rendered: Rendering<unknown>): readonly InputError[] {
  return rendered.ok ? [] : rendered.errors;
}

function rendering<Made>(render: () => Made): Rendering<Made> {
  try {
    return { ok: true, request: render() };
  } catch (problem) {
    if (problem instanceof Unfit) return { ok: false, errors: [{ pointer: problem.pointer, message: problem.message }] };
    throw problem;
  }
}

function renderUrl(connector: HttpConnector, input: JsonObject): string {
  const [, origin = '', path = '', query] = /^(https?:\/\/[^/?#]+)([^?#]*)(?:\?([^#]*))?$/i.exec(connector.url) ?? [];
  // A stored definition was checked. This check is for a row that somebody edited with SQL: its call goes nowhere.
  if (!origin) throw new Unfit('/input', 'cannot be sent: the connector has no usable address');
  const values = { input };
  const renderedPath = interpolate(path, values, (text, at) => {
    if (text === '') throw new Unfit(at.pointer, 'must not be empty: it stands in a path');
    return encode(text, at);
  });
  const problem = pathProblem(renderedPath);
  if (problem) throw new Unfit(placeholders(path)[0]?.pointer ?? '/input', problem);
  const queries = query === undefined ? [] : [interpolate(query, values, encode)];
  for (const [name, value] of Object.entries(connector.query ?? {})) {
    queries.push(`${encodeURIComponent(name)}=${interpolate(String(value), values, encode, encodeURIComponent)}`);
  }
  const url = `${origin}${renderedPath || '/'}${queries.length > 0 ? `?${queries.filter(Boolean).join('&')}` : ''}`;
  if (url.length > RENDERED_URL_MAX) throw new Unfit('/input', 'makes an address of more than 8 KiB');
  return url;
}

function renderHeaders(connector: HttpConnector, values: Values, hasBody: boolean): Record<string, string> {
  return {
    accept: 'application/json',
    ...(hasBody ? { 'content-type': 'application/json' } : {}),
    ...fillHeaders(connector.headers ?? {}, values),
  };
}

function encode(text: string, at: Placeholder): string {
  try {
    return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  } catch {
    throw new Unfit(at.pointer, 'is not well-formed Unicode');
  }
}
