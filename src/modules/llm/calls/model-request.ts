import type { Family } from '../../../domain/llm/family.js';
import type { JsonObject } from '../../../domain/json.js';
import type { AnswerSink } from './client-stream.js';
import type { ScannedCallBody } from '../scan/scan-call.service.js';
import type { Performed } from './perform-call.service.js';

/** Vendors' clients would repeat a 409 or a 429 for minutes, at which nothing changes by that. */
export const NO_RETRY = { 'X-Should-Retry': 'false' };

/** A call as a route hands it over. */
export interface ModelRequest {
  readonly family: Family;
  /** In the provider's format. */
  readonly body: JsonObject;
  readonly scanPii: boolean;
  readonly forAgentId?: string | undefined;
  /** Seconds that the answer may be held while people decide. */
  readonly wait: number;
  /** What else goes along to the provider. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where a stream goes, and how one hears that the client has gone. */
  readonly sink: AnswerSink;
  /** Told what the scan found, before anything is answered. */
  readonly onScan: (scan: ScannedCallBody) => void;
}

/** What a route answers. */
export type ModelReply =
  /** The answer, whole, in the provider's format. */
  | { readonly kind: 'answered'; readonly answer: JsonObject; readonly scan: ScannedCallBody }
  /** Everything has gone out but the events that end it. */
  | { readonly kind: 'streamed'; readonly ending: string }
  /** No answer, or half a stream. */
  | { readonly kind: 'failed'; readonly performed: Performed }
  /** People have to decide first. `status` and `body` are the gate's answer. */
  | {
      readonly kind: 'asked';
      readonly status: number;
      readonly body: JsonObject;
      readonly headers: Readonly<Record<string, string>>;
      readonly scan: ScannedCallBody;
    };
