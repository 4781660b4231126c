import type { Request } from 'express';
import { isJsonObject, type JsonObject } from '../../../domain/json.js';
import { invalid } from '../../../platform/http/fields/read-members.js';
import { parsedBody } from '../../../platform/http/request/body-reader.js';
import { contextOf } from '../../../platform/http/request/request-context.js';
import { queryOf, readQuery } from '../../../platform/http/request/query-params.js';
import { VendorQuery } from './vendor-query.js';

/** Headers of the client's that go along to the provider. */
const PASSED_ON = ['anthropic-version', 'anthropic-beta'] as const;
const ANTHROPIC_VERSION = '2023-06-01';

/** What a call of a vendor's client says beside its provider's format. */
export interface WireOptions {
  readonly body: JsonObject;
  readonly wait: number;
  readonly scanPii: boolean;
  readonly forAgentId: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** Members and parameters that are not known are the provider's. @throws Problem VALIDATION_FAILED */
export function wireOptions(request: Request): WireOptions {
  const body = parsedBody(request);
  if (!isJsonObject(body)) throw invalid([{ pointer: '', message: 'must be a JSON object' }]);
  const { wait = 0 } = readQuery(VendorQuery, queryOf(request.originalUrl), { lenient: true });
  const agent = request.headers['x-agent-id'];
  // A client that reads a stream takes a whole answer for an empty one.
  const held = body['stream'] === true ? 0 : wait;
  const forAgentId = typeof agent === 'string' ? agent : undefined;
  return { body, wait: held, scanPii: scanIn(request), forAgentId, headers: passedOn(request) };
}

function scanIn({ headers }: Request): boolean {
  const said = String(headers['x-scan-pii'] ?? 'true').toLowerCase();
  if (said === 'true' || said === 'false') return said === 'true';
  throw invalid([{ pointer: '/X-Scan-Pii', message: 'must be true or false: this header of the request' }]);
}

function passedOn(request: Request): Record<string, string> {
  const named = PASSED_ON.flatMap((name) => (typeof request.headers[name] === 'string' ? [[name, request.headers[name]] as const] : []));
  const traceparent = contextOf(request)?.traceparent;
  return { 'anthropic-version': ANTHROPIC_VERSION, ...Object.fromEntries(named), ...(traceparent === undefined ? {} : { traceparent }) };
}
