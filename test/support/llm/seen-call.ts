import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { JsonObject } from '../../../src/domain/json.js';

/** One request as it came. */
export interface ModelRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Its bytes, as UTF-8. */
  readonly text: string;
  readonly body: JsonObject;
  /** Resolves once the caller has gone, or has the whole answer. */
  readonly over: Promise<void>;
}

export type ModelAnswer = (request: ModelRequest, response: ServerResponse) => void | Promise<void>;
