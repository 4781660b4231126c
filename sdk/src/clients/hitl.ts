import { type EventOptions, type HitlEvent, hitlEvents } from '../events/hitl-events.js';
import { CountersignError } from '../errors.js';
import type { BodyOf, CallOptions, GivenCall, OperationName, QueryOf, ReplyOf } from '../operation.js';
import type { RequestListReply, RequestReply } from '../wire.js';
import { Client } from './client.js';

type Without<T, Name extends PropertyKey> = Omit<T, Name>;
type Request = { readonly request: RequestReply };

/** A request as somebody was shown it: the digest binds the decision to these bytes. */
export type Shown = Pick<RequestReply, 'id' | 'actionDigest'>;

/**
 * Requests to people. Answers are in the camelCase form. A decision goes by the request as it was shown, whose digest is sent along: it
 * approves these bytes and no others.
 */
export class Hitl extends Client {
  /** Newest first; `assignedTo: 'me'` is the caller's own queue. */
  list(query?: Without<QueryOf<'GET /api/v1/hitl'>, 'form'>, options?: CallOptions):
  Promise<Without<RequestListReply, 'requests'> & { requests: RequestReply[] }> {
    return this.#camel('GET /api/v1/hitl', { query }, options);
  }

  /** One request, with its input, its digest, and who can decide it. `wait` holds the answer until it is final. */
  get(id: string, query?: { wait?: number }, options?: CallOptions): Promise<RequestReply> {
    return this.#camel('GET /api/v1/hitl/{id}', { path: { id }, query }, options);
  }

  /** Asks a person about an action that the caller holds itself: approval is the licence. */
  readonly create = this.byBody('POST /api/v1/hitl');

  /**
   * Approves what was shown, or with `editedInput` something else. HITL_DIGEST_MISMATCH where it is not what was shown by now;
   * SELF_APPROVAL, NOT_ELIGIBLE for whom that is barred. The answer waits 2 s for the execution, or `wait`.
   */
  async approve(
    shown: Shown, body?: Without<BodyOf<'POST /api/v1/hitl/{id}/approve'>, 'expectedDigest'>,
    { wait, ...options }: CallOptions & { wait?: number } = {},
  ): Promise<Request> {
    return this.#camel('POST /api/v1/hitl/{id}/approve', { ...decision(shown, body), query: { wait } }, options);
  }

  /** Nothing runs; the agent is told `note`. */
  async reject(
    shown: Shown, body?: Without<BodyOf<'POST /api/v1/hitl/{id}/reject'>, 'expectedDigest'>, options?: CallOptions,
  ): Promise<Request> {
    return this.#camel('POST /api/v1/hitl/{id}/reject', decision(shown, body), options);
  }

  /** Hands it on to the next level, or to a person who may decide there; `reason` is required. */
  escalate(id: string, body: BodyOf<'POST /api/v1/hitl/{id}/escalate'>, options?: CallOptions): Promise<RequestReply> {
    return this.#camel('POST /api/v1/hitl/{id}/escalate', { path: { id }, body }, options);
  }

  /** Takes it back. */
  cancel(id: string, body?: BodyOf<'POST /api/v1/hitl/{id}/cancel'>, options?: CallOptions): Promise<Request> {
    return this.#camel('POST /api/v1/hitl/{id}/cancel', { path: { id }, body }, options);
  }

  /** Ends its time now; administrators. */
  timeout(id: string, options?: CallOptions): Promise<Request & Pick<ReplyOf<'POST /api/v1/hitl/{id}/timeout'>, 'action'>> {
    return this.#camel('POST /api/v1/hitl/{id}/timeout', { path: { id } }, options);
  }

  /** Up to 100 at once, each decided as if alone; nothing of level 2 is approved. */
  decideBatch(body: BodyOf<'POST /api/v1/hitl/batch'>, options?: CallOptions): Promise<ReplyOf<'POST /api/v1/hitl/batch'>> {
    return this.#camel('POST /api/v1/hitl/batch', { body }, options);
  }

  /** How often and how fast people decide. */
  readonly stats = this.byQuery('GET /api/v1/hitl/stats');
  /** Ends what is overdue, in the caller's organization; the service does so every second by itself. */
  readonly checkTimeouts = this.plain('POST /api/v1/hitl/check-timeouts');

  /** Follows what becomes of requests, and comes back by itself behind the last event. At `reset` load the list anew. */
  events(options?: EventOptions): AsyncGenerator<HitlEvent, void, undefined> {
    return hitlEvents(this.connection, options);
  }

  async #camel<T>(operation: OperationName, call: GivenCall, options?: CallOptions): Promise<T> {
    return (await this.connection.send(operation, { ...options, ...call, query: { ...call.query, form: 'camel' } })).body as T;
  }
}

/** @throws CountersignError INVALID_OPTIONS without a digest: whatever the request has become would be decided */
function decision(shown: Shown | undefined, body: object | undefined) {
  const { id, actionDigest: expectedDigest } = shown ?? {};
  if (typeof expectedDigest === 'string') return { path: { id }, body: { ...body, expectedDigest } };
  throw new CountersignError('INVALID_OPTIONS', { detail: 'A decision is of a request as it was shown: its id and actionDigest.' });
}
