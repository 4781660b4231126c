import type { Credential } from '../credentials/credential.js';
import { CountersignError, type ErrorCode, isCountersignError } from '../errors.js';
import { backoffMs } from './backoff.js';
import { Deadline } from './deadline.js';
import { readReply, type Reply } from './reply.js';

/** One call as it goes out. */
export interface OutgoingCall {
  readonly method: string;
  /** Path and query, behind the address of the service. */
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whether nothing happens twice when it is sent twice. */
  readonly isRepeatable: boolean;
  /** Milliseconds within which one attempt has to be answered. */
  readonly attemptMs?: number;
  /** Whether 204 is an answer to it. */
  readonly mayBeEmpty?: boolean;
}

export interface TransportSettings {
  readonly url: string;
  readonly fetch: typeof fetch;
  readonly maxResponseBytes: number;
}

/** Statuses after which the same call may be answered otherwise, but for the codes that people have to do something about. */
const PASSING = [429, 502, 503, 504];
const PERSISTENT: readonly ErrorCode[] = ['TOO_MANY_PENDING', 'BUDGET_EXHAUSTED'];
/** A credential that was renewed is tried once for each reason that there is. */
const RENEWALS_MAX = 2;
const RETRY_BASE_MS = 200;
/** Before there was a connection, as Node.js says; browsers do not. */
const UNCONNECTED = /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$/;

/** Sends calls, each within its deadline: again where that is safe, and once more where the credential was renewed. */
export class Transport {
  constructor(private readonly settings: TransportSettings) {}

  /** @throws CountersignError */
  async send(call: OutgoingCall, credential: Credential, deadline: Deadline): Promise<Reply> {
    let mayBeDone = false;
    try {
      for (let [attempt, renewals] = [0, 0]; ; ) {
        const authorization = await deadline.race(credential.authorization());
        try {
          const answered = async (signal: AbortSignal) => readReply(await this.#fetched(call, credential, authorization, signal),
            this.settings.maxResponseBytes, call.mayBeEmpty === true);
          return await deadline.bound(answered, call.attemptMs);
        } catch (error) {
          mayBeDone ||= call.method !== 'GET' && !wasRefused(error);
          if (!(error instanceof CountersignError) || deadline.error) throw deadline.error ?? error;
          if (renewals < RENEWALS_MAX && await deadline.race(credential.renewedAfter(error, authorization))) renewals++;
          else await this.#pauseAfter(error, call, attempt++, deadline);
        }
      }
    } catch (error) {
      if (!mayBeDone || !isCountersignError(error, 'UNREACHABLE', 'BAD_RESPONSE', 'DEADLINE_EXCEEDED', 'ABORTED')) throw error;
      const again = call.headers['idempotency-key'] === undefined ? '' : ': ask again by the same key';
      throw error.with({ detail: `${error.detail} What was sent may have been done${again}.` });
    }
  }

  /** Opens a stream of events; what is refused is thrown as it is. */
  async open(call: OutgoingCall, credential: Credential, signal: AbortSignal): Promise<Response> {
    const ending = new Deadline(Infinity, signal);
    const authorization = await ending.race(credential.authorization()).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : error;
    }).finally(() => ending.end());
    const response = await this.#fetched(call, credential, authorization, signal);
    if (response.ok && response.body && response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
    const { status } = await readReply(response, this.settings.maxResponseBytes, true);
    throw new CountersignError('BAD_RESPONSE', { status, detail: `Status ${status} without events.`, retryAfterMs: Infinity });
  }

  async #fetched(call: OutgoingCall, credential: Credential, authorization: string | undefined, signal: AbortSignal): Promise<Response> {
    const { method, body, address } = call;
    const headers = {
      accept: 'application/json, application/problem+json', ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...call.headers, ...(authorization === undefined ? {} : { authorization }),
    };
    try {
      const response = await this.settings.fetch(this.settings.url + address,
        { method, body, headers, signal, credentials: credential.cookies, redirect: 'manual' });
      const time = Date.parse(response.headers.get('date') ?? '');
      if (!Number.isNaN(time)) credential.sawTime(time);
      return response;
    } catch (cause) {
      throw cause instanceof CountersignError ? cause : new CountersignError('UNREACHABLE', { cause });
    }
  }

  /** @throws CountersignError what was given, where the call is not to be sent again */
  async #pauseAfter(error: CountersignError, call: OutgoingCall, attempt: number, deadline: Deadline): Promise<void> {
    const { code, status, retryAfterMs = 0 } = error;
    const isPassing = code === 'UNREACHABLE' || code === 'IDEMPOTENCY_IN_FLIGHT'
      || (PASSING.includes(status ?? 0) && !PERSISTENT.includes(code))
      || (code === 'BAD_RESPONSE' && (status ?? 200) < 300);
    const ms = retryAfterMs + backoffMs(attempt, RETRY_BASE_MS);
    // What was refused for its rate was not done, whatever it is.
    const isSafe = call.isRepeatable || code === 'RATE_LIMITED';
    if (!isPassing || !isSafe || ms >= deadline.remainingMs) throw error;
    await deadline.pause(ms);
  }
}

/** By the service, before anything was done; or there was nobody to refuse it. */
function wasRefused(error: unknown): boolean {
  const { code, status = 0, cause } = error as CountersignError;
  if (status >= 400 && status < 500) return code !== 'IDEMPOTENCY_IN_FLIGHT';
  const { code: reason, cause: inner } = (cause ?? {}) as { code?: string; cause?: { code?: string } };
  return code === 'UNREACHABLE' && UNCONNECTED.test(reason ?? inner?.code ?? '');
}
