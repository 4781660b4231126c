import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import { pathProblem, placeholderProblem } from '../connector-template.js';
import {
  checkAddress, checkHeaders, checkHttpBounds, checkTexts, type HttpBounds, present, secretProblem, type Wrong,
} from './connector-fields.js';

export const CONNECTOR_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** An HTTP call that the service makes itself, with templates filled from the input. */
export interface HttpConnector extends HttpBounds {
  readonly type: 'http';
  readonly method: (typeof CONNECTOR_METHODS)[number];
  /** The origin is literal; path and query may hold `{input.member}`. */
  readonly url: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** Values may hold `{input.member}` and `{secrets.name}`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Its texts may hold `{input.member}` and `{secrets.name}`. */
  readonly body?: JsonValue;
}

export const HTTP_MEMBERS = ['type', 'method', 'url', 'query', 'headers', 'body', 'timeoutSeconds', 'maxBytes', 'idempotent'] as const;

export function checkHttpConnector(definition: JsonObject, wrong: Wrong): HttpConnector {
  const { method, url, query, headers, body } = definition;
  if (!isMethod(method)) wrong('/method', `must be one of ${CONNECTOR_METHODS.join(', ')}`);
  if (typeof url !== 'string') wrong('/url', 'is required');
  else checkUrlTemplate(url, wrong);
  if (query !== undefined) checkQuery(query, wrong);
  if (headers !== undefined) checkHeaders(headers, wrong, typeProblem);
  if (body !== undefined) {
    if (method === 'GET' || method === 'HEAD') wrong('/body', `must not be given with ${method}`);
    checkTexts(body, '/body', wrong, true);
  }
  return { type: 'http', method, url, ...present({ query, headers, body }), ...checkHttpBounds(definition, wrong) } as HttpConnector;
}

function isMethod(value: unknown): boolean {
  return (CONNECTOR_METHODS as readonly unknown[]).includes(value);
}

function typeProblem(name: string, value: string): string | undefined {
  const isJson = name !== 'content-type' || /^application\/([a-z0-9.-]+\+)?json(;.*)?$/i.test(value);
  return isJson ? undefined : 'must be JSON: bodies always are';
}

function checkUrlTemplate(url: string, wrong: Wrong): void {
  const path = checkAddress(url, wrong);
  if (path === undefined) return;
  const problem = placeholderProblem(url) ?? secretProblem(url);
  if (problem) return wrong('/url', problem);
  const plain = url.replace(/\{input(\.[A-Za-z0-9_$-]+)+\}/g, 'x');
  if (/[{}]/.test(plain)) return wrong('/url', 'has braces that are not a placeholder {input.member}');
  if (!URL.canParse(plain)) return wrong('/url', 'is not a valid address');
  const inPath = pathProblem(path.replace(/\{input(\.[A-Za-z0-9_$-]+)+\}/g, 'x'));
  if (inPath) wrong('/url', inPath);
}

function checkQuery(query: JsonValue, wrong: Wrong): void {
  if (!isJsonObject(query)) return wrong('/query', 'must be an object');
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
      wrong(`/query/${name}`, 'must be a text, a number or true or false');
    }
  }
  checkTexts(query, '/query', wrong);
}
