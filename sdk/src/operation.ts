import { CountersignError } from './errors.js';
import type { Operations } from './wire.js';

/** An operation of the API document by its method and path, such as `GET /api/v1/agents/{id}`. */
export type OperationName = keyof Operations;

/** Bounds one call. */
export interface CallOptions {
  /** Ends the call, and whatever waits for it, at once: ABORTED. */
  readonly signal?: AbortSignal;
  /** Milliseconds for the call with all of its attempts; DEADLINE_EXCEEDED. Default: that of the client. */
  readonly timeoutMs?: number;
  /** Under which the call is done once, for 24 hours, however often it is sent. Default: a random one for each call that takes one. */
  readonly idempotencyKey?: string;
  /** More headers, such as `traceparent`. */
  readonly headers?: Readonly<Record<string, string>>;
}

type Given<O extends OperationName> = Pick<Operations[O]['data'], 'path' | 'query' | 'body'>;
type Needs<O extends OperationName, Part extends 'path' | 'query' | 'body'> = NonNullable<Operations[O]['data'][Part]>;

/** What one operation takes: `path`, `query` and `body` as the document has them, and the options of every call. */
export type CallArguments<O extends OperationName> = object extends Given<O>
  ? [call?: Given<O> & CallOptions]
  : [call: Given<O> & CallOptions];
export type QueryOf<O extends OperationName> = Needs<O, 'query'>;
export type BodyOf<O extends OperationName> = Needs<O, 'body'>;
/** What one operation answers; undefined for 204. */
export type ReplyOf<O extends OperationName> = Operations[O]['replies'][keyof Operations[O]['replies']];

/** `Countersign.request`. */
export type Request = <O extends OperationName>(operation: O, ...call: CallArguments<O>) => Promise<ReplyOf<O>>;

/** POSTs that take no Idempotency-Key, so that none is repeated; a test compares them with the document. */
const WITHOUT_KEY =
  /^\/internal\/v1\/auth|^\/api\/v1\/(auth|node|notifications)\/|\/(de)?activate$|\/check-timeouts$|\/(llm\/scan|count_tokens)$/;

export const takesIdempotencyKey = (method: string, path: string): boolean => method === 'POST' && !WITHOUT_KEY.test(path);

/** What is answered by 204 as well; a test compares them with the document. */
export const mayBeEmpty = (operation: string): boolean => /^DELETE |\/auth\/password$|\/tasks\/lease$/.test(operation);

type Values = Readonly<Record<string, unknown>>;

/** What every call consists of. */
export type GivenCall = CallOptions & { readonly path?: Values; readonly query?: Values; readonly body?: object };

/** The path and query of a call. @throws CountersignError INVALID_OPTIONS where a part of the path is missing, empty or no name */
export function addressOf(template: string, path: Values = {}, query: Values = {}): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    // An id of `..` would be another path.
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) {
      throw new CountersignError('INVALID_OPTIONS', { detail: `${name} of ${template} must be a name or an id.` });
    }
    return encodeURIComponent(value);
  });
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    parameters.append(name, value instanceof Date ? value.toISOString() : String(value as string | number | boolean));
  }
  const text = parameters.toString();
  return text === '' ? filled : `${filled}?${text}`;
}
