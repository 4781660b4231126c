import { AgentToken, type AgentTokenOptions, type RefreshToken } from './credentials/agent-token.js';
import {
  checkedCredential, type Credential, type CredentialOption, fixedCredential, isToken, SESSION,
} from './credentials/credential.js';
import { checkOptions, CountersignError } from './errors.js';
import { Deadline } from './http/deadline.js';
import type { Reply } from './http/reply.js';
import { type OutgoingCall, Transport } from './http/transport.js';
import { bodyText } from './json.js';
import {
  addressOf, type CallArguments, type GivenCall, mayBeEmpty, type OperationName, type ReplyOf, takesIdempotencyKey,
} from './operation.js';
import type { TokenReply } from './wire.js';

export interface ConnectionOptions extends Pick<AgentTokenOptions, 'onCapabilities' | 'onToken'> {
  /** Address of the service, without `/api/v1`. */
  readonly url: string | URL;
  readonly credential: CredentialOption;
  /** Milliseconds for one call with all of its attempts, `execute` among them; waits for people have `waitTimeoutMs`. Default: 60,000. */
  readonly timeoutMs?: number;
  /** The longest answer that is read. Default: 8 MiB. */
  readonly maxResponseBytes?: number;
  /** In place of the platform's own, for tracing or a proxy. */
  readonly fetch?: typeof fetch;
}

const TIMEOUT_MS = 60_000;
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;
/** What the service may take beyond the seconds for which it was asked to hold an answer. */
const LONG_POLL_GRACE_MS = 20_000;

/** One caller at one service: calls by the names of their operations. */
export class Connection {
  readonly #transport: Transport;
  readonly #credential: Credential;
  readonly #timeoutMs: number;

  /** @throws CountersignError INVALID_OPTIONS; the credential is in no message */
  constructor(options: ConnectionOptions) {
    checkOptions(options ?? null, 'Countersign', 'url credential timeoutMs maxResponseBytes fetch onCapabilities onToken');
    this.#transport = new Transport({
      url: checkedUrl(options.url), maxResponseBytes: options.maxResponseBytes ?? MAX_RESPONSE_BYTES,
      // As a member it would be called with another `this`, which browsers refuse.
      fetch: options.fetch ?? ((...call) => fetch(...call)),
    });
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#credential = this.#credentialOf(options);
  }

  /** Calls one operation. @throws CountersignError */
  async request<O extends OperationName>(operation: O, ...[call]: CallArguments<O>): Promise<ReplyOf<O>> {
    const { body } = await this.send(operation, call as GivenCall | undefined);
    return body as ReplyOf<O>;
  }

  /** As `request`, with status and headers. @param within instead of a deadline of the call's own */
  async send(operation: OperationName, call: GivenCall = {}, within?: Deadline): Promise<Reply> {
    const outgoing = outgoingCall(operation, call);
    const deadline = within ?? new Deadline(call.timeoutMs ?? this.#timeoutMs, call.signal);
    try {
      return await this.#transport.send(outgoing, this.#credential, deadline);
    } catch (error) {
      const idempotencyKey = outgoing.headers['idempotency-key'];
      throw error instanceof CountersignError && idempotencyKey !== undefined ? error.with({ idempotencyKey }) : error;
    } finally {
      if (within === undefined) deadline.end();
    }
  }

  /** Opens what is read as it comes: events, files. @param signal ends it */
  open(path: string, { query, headers = {}, signal }: Pick<GivenCall, 'query' | 'headers'> & { signal: AbortSignal }): Promise<Response> {
    const call = { method: 'GET', address: addressOf(path, {}, query), headers, isRepeatable: true };
    return this.#transport.open(call, this.#credential, signal);
  }

  #credentialOf({ credential, ...options }: ConnectionOptions): Credential {
    if (typeof credential === 'object' && credential !== null && 'session' in credential) return SESSION;
    if (typeof credential === 'object' && typeof credential?.getToken === 'function') {
      const { token, getToken } = credential;
      return new AgentToken(token === undefined ? undefined : checkedCredential(token), this.#refresh, { ...options, getToken });
    }
    const text = checkedCredential(credential);
    return isToken(text) ? new AgentToken(text, this.#refresh, options) : fixedCredential(text);
  }

  /** Without a key: an answer that is repeated by one has no token in it. Two refreshes do no harm. */
  readonly #refresh: RefreshToken = async (id, token, capabilities) => {
    const call = outgoingCall('POST /api/v1/agents/{id}/token/refresh', { path: { id }, body: { capabilities } }, { withKey: false });
    const deadline = new Deadline(this.#timeoutMs);
    const { body } = await this.#transport.send({ ...call, isRepeatable: true }, fixedCredential(token), deadline);
    return checkedCredential((body as TokenReply).token);
  };
}

function outgoingCall(operation: OperationName, call: GivenCall, { withKey = true } = {}): OutgoingCall {
  checkOptions(call, 'A call', 'path query body signal timeoutMs idempotencyKey headers');
  const [, method, template] = /^(GET|POST|PUT|PATCH|DELETE) (\/\S+)$/.exec(String(operation)) ?? [];
  if (method === undefined || template === undefined) {
    const detail = 'An operation is named by its method and path, such as GET /api/v1/agents/{id}.';
    throw new CountersignError('INVALID_OPTIONS', { detail });
  }
  const key = withKey && takesIdempotencyKey(method, template) ? (call.idempotencyKey ?? randomKey()) : undefined;
  if (key !== undefined && !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new CountersignError('INVALID_OPTIONS', { detail: 'An idempotency key has 1 to 255 visible ASCII characters.' });
  }
  const wait = Number(call.query?.['wait'] ?? 0);
  return {
    method,
    address: addressOf(template, call.path, call.query),
    headers: { ...call.headers, ...(key === undefined ? {} : { 'idempotency-key': key }) },
    body: call.body === undefined ? undefined : bodyText(call.body as Record<string, unknown>),
    isRepeatable: method === 'GET' || key !== undefined,
    mayBeEmpty: mayBeEmpty(operation),
    attemptMs: wait > 0 ? wait * 1_000 + LONG_POLL_GRACE_MS : undefined,
  };
}

/** 128 random bits. `randomUUID` is there in secure contexts of browsers only. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function checkedUrl(given: unknown): string {
  const refuse = (why: string): never => {
    throw new CountersignError('INVALID_OPTIONS', { detail: `The address of the service ${why}, such as https://countersign.example.` });
  };
  let url: URL | undefined;
  try {
    url = new URL(String(given));
  } catch {
    return refuse('must be a URL');
  }
  if (!/^https?:$/.test(url.protocol)) return refuse('must begin with http:// or https://');
  if (url.username !== '' || url.password !== '') return refuse('holds no credential; give that by itself');
  if (url.search !== '' || url.hash !== '') return refuse('ends with its path');
  const path = url.pathname.replace(/\/+$/, '');
  if (/\/api(\/v1)?$/.test(path)) return refuse('is given without /api/v1');
  return url.origin + path;
}
