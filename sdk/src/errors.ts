import type { Problem } from './wire.js';

/** A refusal of the service, by its code (RFC 9457's problem details). */
export type ProblemCode = Problem['code'];

/** What goes wrong without an answer of the service's that says so, and what became of an approval. */
export const CLIENT_CODES = {
  INVALID_OPTIONS: 'What the client was made or called with cannot be used. Nothing was sent.',
  UNREACHABLE: 'No connection to the service, or it was lost before an answer came.',
  BAD_RESPONSE: 'The answer is none of the service: no JSON, too long, cut off, or a redirection.',
  DEADLINE_EXCEEDED: 'The deadline of the call has passed. What was sent may have been done: ask again by the same key.',
  ABORTED: 'The signal of the call was aborted. What was sent may have been done: ask again by the same key.',
  TOKEN_EXPIRED: "The agent's token has ended, and there is nothing to get a new one by.",
  HITL_PENDING: 'Nobody has decided while it was waited for; `hitlId` names the request.',
  HITL_REJECTED: 'A person has rejected the request; `detail` is their comment.',
  HITL_TIMED_OUT: 'The request ended by time.',
  HITL_CANCELLED: 'The request, or what was approved, was cancelled before it began.',
  EXECUTION_FAILED: 'What the gate let through has failed; `detail` says why.',
  ALREADY_EXECUTED: 'The key was used before, and the licence it gave is not given twice.',
  RUN_BY_SERVICE: 'The service did it by a connector, so the governed function did not run; `output` is what came of it.',
} as const;

export type ClientCode = keyof typeof CLIENT_CODES;
export type ErrorCode = ProblemCode | ClientCode;

/** What an error may say besides its code. */
export interface ErrorFacts {
  readonly status?: number;
  readonly requestId?: string;
  readonly detail?: string;
  readonly errors?: readonly { readonly pointer: string; readonly message: string }[];
  readonly problem?: Problem;
  readonly retryAfterMs?: number;
  readonly hitlId?: string;
  readonly executionId?: string;
  readonly idempotencyKey?: string;
  readonly output?: unknown;
  readonly cause?: unknown;
}

/** The one error that this package throws. Decide by `code`; `message` is for people. Neither holds a credential. */
export class CountersignError extends Error {
  override readonly name = 'CountersignError';
  /** Of the service (interface section 7, `/docs/errors`), or of `CLIENT_CODES`. */
  readonly code: ErrorCode;
  /** HTTP status; undefined where there was no answer. */
  readonly status?: number;
  /** By which the service's log finds the call. */
  readonly requestId?: string;
  readonly detail: string;
  /** What is wrong with which member, by JSON pointers (RFC 6901) from the root of the body. */
  readonly errors?: ErrorFacts['errors'];
  /** All that the service said, with members of single codes such as `currentCapabilities`. */
  readonly problem?: Problem;
  /** Milliseconds after which the service wants to be asked again; Infinity where asking again would change nothing. */
  readonly retryAfterMs?: number;
  /** The request to a person that this is about. */
  readonly hitlId?: string;
  /** The execution that this is about: under way, where the caller gave up. */
  readonly executionId?: string;
  /** By which the same call can be sent again, and is done once. */
  readonly idempotencyKey?: string;
  /** What the service's own runtime answered, of RUN_BY_SERVICE. */
  readonly output?: unknown;

  constructor(code: ErrorCode, { cause, detail = CLIENT_CODES[code as ClientCode] ?? code, ...facts }: ErrorFacts = {}) {
    super(`${code}: ${detail}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.detail = detail;
    Object.assign(this, facts);
  }

  /** The same error that says more. */
  with(facts: ErrorFacts): CountersignError {
    const { code, status, requestId, detail, errors, problem, retryAfterMs, hitlId, executionId, idempotencyKey, output, cause } = this;
    const own = { status, requestId, detail, errors, problem, retryAfterMs, hitlId, executionId, idempotencyKey, output, cause };
    return new CountersignError(code, { ...own, ...facts });
  }
}

/** @param code one of these; without any, whether it is an error of this package */
export function isCountersignError(error: unknown, ...code: readonly ErrorCode[]): error is CountersignError {
  return error instanceof CountersignError && (code.length === 0 || code.includes(error.code));
}
