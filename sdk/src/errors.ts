import type { Problem } from './wire.js';

/** A refusal of the service, by its code (RFC 9457's problem details). */
export type ProblemCode = Problem['code'];

/** What goes wrong without an answer of the service's that says so, and what became of an approval. */
export const CLIENT_CODES = {
  INVALID_OPTIONS: 'What the client was made or called with cannot be used. Nothing was sent.',
  UNREACHABLE: 'No connection to the service, or it was lost before an answer came.',
  BAD_RESPONSE: 'The answer is none of the service: no JSON object, too long, cut off, or a redirection.',
  DEADLINE_EXCEEDED: 'The deadline of the call has passed.',
  ABORTED: 'The signal of the call was aborted.',
  CALLBACK_FAILED: 'A function that the client was given has thrown; `cause` is what.',
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
export type ErrorFacts = Partial<Omit<CountersignError, 'name' | 'message' | 'stack' | 'code' | 'with'>>;

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
  readonly errors?: readonly { readonly pointer: string; readonly message: string }[];
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
    return new CountersignError(this.code, { ...this, cause: this.cause, ...facts });
  }
}

/** @param code one of these; without any, whether it is an error of this package */
export function isCountersignError(error: unknown, ...code: readonly ErrorCode[]): error is CountersignError {
  return error instanceof CountersignError && (code.length === 0 || code.includes(error.code));
}

/** What may be over at the next try: the service is away or busy, or its answer was lost. */
export function isTrouble(error: unknown): error is CountersignError {
  return isCountersignError(error, 'UNREACHABLE', 'BAD_RESPONSE', 'DEADLINE_EXCEEDED', 'RATE_LIMITED')
    || (error instanceof CountersignError && (error.status ?? 0) >= 500);
}

const MESSAGE_CHARACTERS = 2_000;

/** What somebody has thrown, in words that the service takes. */
export function messageOf(thrown: unknown): string {
  const said: unknown = (thrown as Partial<Error> | null | undefined)?.message ?? thrown;
  const text = (typeof said === 'string' ? said : `a ${typeof said}`).slice(0, MESSAGE_CHARACTERS);
  return text.replace(/[\0\p{Surrogate}]/gu, '\ufffd') || 'unknown';
}

/** What a function of the caller's returns. @throws CountersignError CALLBACK_FAILED */
export async function called<T>(name: string, callback: () => T | Promise<T>): Promise<T> {
  try {
    return await callback();
  } catch (cause) {
    throw new CountersignError('CALLBACK_FAILED', { detail: `${name}: ${messageOf(cause)}`, cause });
  }
}

/** @param names of the options that there are. @throws CountersignError INVALID_OPTIONS for another one, which would be ignored */
export function checkOptions(given: object | undefined, of: string, names: string): void {
  if (given === undefined) return;
  const isObject = typeof given === 'object' && given !== null;
  const unknown = isObject && Object.keys(given).find((name) => !names.split(' ').includes(name));
  if (unknown === undefined) return;
  const detail = isObject ? `${of} has no option ${unknown}; there are ${names.replaceAll(' ', ', ')}.`
    : `The options of ${of} must be an object.`;
  throw new CountersignError('INVALID_OPTIONS', { detail });
}
