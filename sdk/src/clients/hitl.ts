import type { Connection } from '../connection.js';
import { type EventOptions, type HitlEvent, hitlEvents } from '../events/hitl-events.js';
import type { BodyOf, CallOptions, QueryOf, ReplyOf } from '../operation.js';
import type { RequestListReply, RequestReply } from '../wire.js';

type Without<T, Name extends PropertyKey> = Omit<T, Name>;
type Request = { readonly request: RequestReply };

/** A request as somebody was shown it: the digest binds the decision to these bytes. */
export type Shown = Pick<RequestReply, 'id' | 'actionDigest'>;

const CAMEL = { form: 'camel' } as const;

/**
 * Requests to people. Answers are in the camelCase form. A decision goes by the request as it was shown, whose digest is sent along: it
 * approves these bytes and no others.
 */
export class Hitl {
  constructor(private readonly connection: Connection) {}

  /** Newest first; `assignedTo: 'me'` is the caller's own queue. */
  async list(query?: Without<QueryOf<'GET /api/v1/hitl'>, 'form'>, options?: CallOptions):
  Promise<Without<RequestListReply, 'requests'> & { requests: RequestReply[] }> {
    const reply = await this.connection.request('GET /api/v1/hitl', { query: { ...query, ...CAMEL }, ...options });
    return { ...reply, requests: reply.requests as RequestReply[] };
  }

  /** One request, with its input, its digest, and who can decide it. `wait` holds the answer until it is final. */
  async get(id: string, query?: { wait?: number }, options?: CallOptions): Promise<RequestReply> {
    const call = { path: { id }, query: { ...query, ...CAMEL }, ...options };
    return await this.connection.request('GET /api/v1/hitl/{id}', call) as RequestReply;
  }

  /** Asks a person about an action that the caller holds itself: approval is the licence. */
  create(body: BodyOf<'POST /api/v1/hitl'>, options?: CallOptions): Promise<Request> {
    return this.connection.request('POST /api/v1/hitl', { body, ...options });
  }

  /**
   * Approves what was shown, or with `editedInput` something else. HITL_DIGEST_MISMATCH where it is not what was shown by now;
   * SELF_APPROVAL, NOT_ELIGIBLE for whom that is barred. The answer waits 2 s for the execution, or `wait`.
   */
  approve(
    shown: Shown, body?: Without<BodyOf<'POST /api/v1/hitl/{id}/approve'>, 'expectedDigest'>, options?: CallOptions & { wait?: number },
  ): Promise<Request> {
    const { wait, ...call } = options ?? {};
    return this.connection.request('POST /api/v1/hitl/{id}/approve', {
      path: { id: shown.id }, body: { ...body, expectedDigest: shown.actionDigest }, query: { wait, ...CAMEL }, ...call,
    }) as Promise<Request>;
  }

  /** Nothing runs; the agent is told `note`. */
  reject(shown: Shown, body?: Without<BodyOf<'POST /api/v1/hitl/{id}/reject'>, 'expectedDigest'>, options?: CallOptions): Promise<Request> {
    return this.connection.request('POST /api/v1/hitl/{id}/reject', {
      path: { id: shown.id }, body: { ...body, expectedDigest: shown.actionDigest }, query: CAMEL, ...options,
    }) as Promise<Request>;
  }

  /** Hands it on to the next level, or to a person who may decide there; `reason` is required. */
  escalate(id: string, body: BodyOf<'POST /api/v1/hitl/{id}/escalate'>, options?: CallOptions): Promise<RequestReply> {
    const call = { path: { id }, body, query: CAMEL, ...options };
    return this.connection.request('POST /api/v1/hitl/{id}/escalate', call) as Promise<RequestReply>;
  }

  /** Takes it back. */
  cancel(id: string, body?: BodyOf<'POST /api/v1/hitl/{id}/cancel'>, options?: CallOptions): Promise<Request> {
    return this.connection.request('POST /api/v1/hitl/{id}/cancel', { path: { id }, body, query: CAMEL, ...options }) as Promise<Request>;
  }

  /** Ends its time now; administrators. */
  timeout(id: string, options?: CallOptions): Promise<Request & { action: ReplyOf<'POST /api/v1/hitl/{id}/timeout'>['action'] }> {
    const call = { path: { id }, query: CAMEL, ...options };
    return this.connection.request('POST /api/v1/hitl/{id}/timeout', call) as ReturnType<Hitl['timeout']>;
  }

  /** Up to 100 at once, each decided as if alone; nothing of level 2 is approved. */
  decideBatch(body: BodyOf<'POST /api/v1/hitl/batch'>, options?: CallOptions) {
    return this.connection.request('POST /api/v1/hitl/batch', { body, query: CAMEL, ...options });
  }

  /** How often and how fast people decide. */
  stats(query?: QueryOf<'GET /api/v1/hitl/stats'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/hitl/stats', { query, ...options });
  }

  /** Ends what is overdue, in the caller's organization; the service does so every second by itself. */
  checkTimeouts(options?: CallOptions) {
    return this.connection.request('POST /api/v1/hitl/check-timeouts', { ...options });
  }

  /** Follows what becomes of requests, and comes back by itself behind the last event. At `reset` load the list anew. */
  events(options?: EventOptions): AsyncGenerator<HitlEvent, void, undefined> {
    return hitlEvents(this.connection, options);
  }
}
