import type { Request } from 'express';
import { isJsonObject, type JsonObject } from '../../../domain/json.js';
import { ANTHROPIC_VERSION, passedOn } from '../../../domain/llm/family.js';
import { invalid } from '../../../platform/http/fields/read-members.js';
import { parsedBody } from '../../../platform/http/request/body-reader.js';
import { contextOf } from '../../../platform/http/request/request-context.js';
import { queryOf, readQuery } from '../../../platform/http/request/query-params.js';
import { VendorQuery } from './vendor-query.js';

/** Names of versions, with commas between them. */
const VERSIONS = /^[\w.,: -]{1,1000}$/;

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
  return { body, wait: held, scanPii: scanIn(request), forAgentId, headers: headersOf(request) };
}

function scanIn({ headers }: Request): boolean {
  const said = String(headers['x-scan-pii'] ?? 'true').toLowerCase();
  if (said === 'true' || said === 'false') return said === 'true';
  throw invalid([{ pointer: '/X-Scan-Pii', message: 'must be true or false: this header of the request' }]);
}

function headersOf(request: Request): Record<string, string> {
  const named = passedOn(request.headers);
  const wrong = Object.entries(named).find(([, value]) => !VERSIONS.test(value));
  if (wrong) throw invalid([{ pointer: `/${wrong[0]}`, message: 'must be names of versions: this header of the request' }]);
  const traceparent = contextOf(request)?.traceparent;
  return { 'anthropic-version': ANTHROPIC_VERSION, ...named, ...(traceparent === undefined ? {} : { traceparent }) };
}
