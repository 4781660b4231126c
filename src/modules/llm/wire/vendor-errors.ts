import type { Request } from 'express';
import type { Family } from '../../../domain/llm/family.js';
import type { JsonObject } from '../../../domain/json.js';
import type { Problem } from '../../../platform/http/reply/problem.js';

/** Routes of ours, whose errors are problems. */
const OWN = /^\/api\/v1\/llm\/(?:chat|scan|usage)\/?$/i;
const WIRE = /^\/api\/v1\/llm\/(?:v1\/)?([^/]*)/i;

const OPENAI_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error', 401: 'authentication_error', 403: 'permission_error', 404: 'not_found_error', 405: 'invalid_request_error',
  413: 'invalid_request_error', 415: 'invalid_request_error', 422: 'invalid_request_error', 409: 'conflict_error', 429: 'rate_limit_error',
};
const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error', 401: 'authentication_error', 403: 'permission_error', 404: 'not_found_error', 405: 'invalid_request_error',
  413: 'request_too_large', 415: 'invalid_request_error', 422: 'invalid_request_error', 409: 'invalid_request_error',
  429: 'rate_limit_error', 503: 'overloaded_error', 504: 'timeout_error',
};

/** Of paths that others' clients call, whether there is such a route or not: whose errors they understand. */
export function familyOfRoute({ path, headers }: Pick<Request, 'path' | 'headers'>): Family | undefined {
  const [, first] = OWN.test(path) ? [] : WIRE.exec(path) ?? [];
  if (first === undefined) return undefined;
  const name = first.toLowerCase();
  if (name === 'chat' || name === 'messages') return name === 'chat' ? 'openai' : 'anthropic';
  return headers['anthropic-version'] === undefined ? 'openai' : 'anthropic';
}

/** A refusal of ours, in the form of a vendor: with our code, and what else the problem says. */
export function vendorError(family: Family, problem: Problem, requestId: string | undefined): JsonObject {
  const { status, code, extras: { members = {}, errors } } = problem;
  const message = problem.detail ?? problem.message;
  const more = { ...members, ...(errors ? { errors: errors.map(({ pointer, message: said }) => ({ pointer, message: said })) } : {}) };
  if (family === 'openai') {
    return { error: { ...more, message, type: OPENAI_TYPES[status] ?? 'server_error', param: null, code } };
  }
  const error = { ...more, type: ANTHROPIC_TYPES[status] ?? 'api_error', message, code };
  return { type: 'error', error, ...(requestId === undefined ? {} : { request_id: requestId }) };
}

/** What a provider says is wrong with a call, as its own client reads it. */
export function passedError(family: Family, refusal: JsonObject, requestId: string | undefined): JsonObject {
  if (family === 'openai') return { error: { type: 'invalid_request_error', param: null, code: null, ...refusal } };
  return {
    type: 'error', error: { type: 'invalid_request_error', ...refusal }, ...(requestId === undefined ? {} : { request_id: requestId }),
  };
}

/** The event by which a stream that has begun ends otherwise than whole. */
export function errorEvent(family: Family, problem: Problem, requestId: string | undefined): string {
  const data = JSON.stringify(vendorError(family, problem, requestId));
  return family === 'openai' ? `data: ${data}\n\n` : `event: error\ndata: ${data}\n\n`;
}
