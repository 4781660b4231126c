import { setTimeout as wait } from 'node:timers/promises';
import { type Dispatcher, request } from 'undici';
import { isJsonObject, type JsonObject } from '../../../domain/json.js';
import { previewText } from '../../../domain/pii/scan-call.js';
import { DEFAULT_PII_SETTINGS, type PiiSettings } from '../../../domain/pii/settings.js';
import type { Deadline } from '../../gate/runtimes/deadline.js';
import { readWhole } from './answer-body.js';
import type { ConnectedProvider } from './model-providers.js';
import { AnswerBroken, type ProviderFailure } from './provider-failure.js';

const REPETITIONS = 2;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
/** Answers by which a provider says that it did not begin. */
const NOT_BEGUN: ReadonlySet<number> = new Set([429, 503, 529]);
/** Answers that say what is wrong with the call: its sender is told. */
const CALLERS_FAULT: ReadonlySet<number> = new Set([400, 404, 413, 422]);
const NO_CONNECTION: ReadonlySet<string> = new Set([
  'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT',
]);
const REFUSAL_MAX = 1_000;
const REFUSAL_READ_MAX = 4_000;
const REFUSAL_BYTES_MAX = 64 * 1024;

export interface ProviderRequest {
  readonly method: 'GET' | 'POST';
  /** Below the provider's base URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  readonly deadline: Deadline;
  /** What is looked for in what the provider says of the call, which it may quote. Default: all types. */
  readonly settings?: PiiSettings;
}

export type ProviderAnswer =
  | { readonly kind: 'answered'; readonly response: Dispatcher.ResponseData }
  /** `mayAsk`: nothing can have been generated, so another may be asked. */
  | { readonly kind: 'failed'; readonly failure: ProviderFailure; readonly mayAsk: boolean };

/**
 * Asks one provider, and again at most twice where nothing can have been generated: it could not be reached, or said that it did not begin.
 * A connection that broke after the call was sent is not asked again, for whoever pays would pay twice.
 */
export async function askProvider(provider: ConnectedProvider, asked: ProviderRequest): Promise<ProviderAnswer> {
  for (let attempt = 0, pause = FIRST_PAUSE_MS; ; attempt++, pause *= 2) {
    const answer = await askOnce(provider, asked);
    if (answer.kind === 'answered' || !answer.mayAsk || attempt === REPETITIONS) return answer;
    const ms = Math.max(pause, answer.retryAfterMs ?? 0) * (0.75 + Math.random() / 2);
    if (ms > LONGEST_PAUSE_MS || asked.deadline.left() <= ms || provider.breaker.isOpen) return answer;
    await wait(ms, undefined, { signal: asked.signal }).catch(() => undefined);
    if (asked.signal.aborted) return answer;
  }
}

async function askOnce(
  provider: ConnectedProvider,
  { method, path, headers, body, signal, deadline, settings = DEFAULT_PII_SETTINGS }: ProviderRequest,
): Promise<ProviderAnswer & { readonly retryAfterMs?: number }> {
  const { breaker, pool, baseUrl } = provider;
  if (!breaker.enter()) return failed({ message: 'The provider failed several times in a row, and is not asked for a while.' }, true);
  try {
    const response = await request(`${baseUrl}${path}`, {
      dispatcher: pool, method, headers: { ...keyOf(provider), ...headers }, signal,
      ...(body === undefined ? {} : { body }),
    });
    const { statusCode: status } = response;
    // Faults are heard by reading. When the body is let go nobody may read any more, and a fault that nobody hears ends the process.
    response.body.on('error', () => undefined);
    if (status < 500 || status === 501) breaker.succeeded();
    else breaker.failed();
    if (status >= 200 && status <= 299) return { kind: 'answered', response };
    const failure = await failureOf(response, (said) => redacted(said, provider.key, settings));
    return { ...failed(failure, NOT_BEGUN.has(status)), ...retryAfter(response) };
  } catch (error) {
    if (signal.aborted) {
      const failure = signal.reason instanceof AnswerBroken ? signal.reason.failure : { message: 'The call was broken off.' };
      if (deadline.left() > 0) breaker.dropped();
      else breaker.failed();
      return failed(failure, false);
    }
    breaker.failed();
    const isUnreached = NO_CONNECTION.has((error as { code?: string }).code ?? '');
    return failed({ message: isUnreached ? 'The provider cannot be reached.' : 'The connection to the provider broke.' }, isUnreached);
  }
}

function failed(failure: Partial<ProviderFailure> & { message: string }, mayAsk: boolean): ProviderAnswer {
  return { kind: 'failed', failure: { code: 'PROVIDER_ERROR', ...failure }, mayAsk };
}

function keyOf({ family, key }: ConnectedProvider): Record<string, string> {
  if (key === undefined) return {};
  return family === 'openai' ? { authorization: `Bearer ${key}` } : { 'x-api-key': key };
}

async function failureOf(response: Dispatcher.ResponseData, redact: (said: string) => string): Promise<ProviderFailure> {
  const { statusCode: status } = response;
  const failure = { code: 'PROVIDER_ERROR', message: `The provider answered ${status}.`, status } as const;
  if (!CALLERS_FAULT.has(status)) {
    await response.body.dump({ limit: REFUSAL_BYTES_MAX });
    return failure;
  }
  const refusal = await refusalIn(response, redact);
  return { ...failure, refusal };
}

/** What the provider says: a message of at most 1,000 characters, and its words for it. */
async function refusalIn(response: Dispatcher.ResponseData, redact: (said: string) => string): Promise<JsonObject> {
  try {
    const body = await readWhole(response.body, REFUSAL_BYTES_MAX);
    const error = isJsonObject(body['error']) ? body['error'] : {};
    const said = typeof error['message'] === 'string' ? error['message'] : 'The provider refuses the call.';
    const message = redact(said).slice(0, REFUSAL_MAX);
    const words = ['type', 'param', 'code'].flatMap((name) => {
      const value = error[name];
      const word = typeof value === 'string' && value.length <= 100 ? redact(value) : null;
      return word !== null || value === null ? [[name, word] as const] : [];
    });
    return { message, ...Object.fromEntries(words) };
  } catch (error) {
    if (!(error instanceof AnswerBroken)) throw error;
    return { message: 'The provider refuses the call.' };
  }
}

/** Without the provider's key, and without values of what it quotes. */
function redacted(said: string, key: string | undefined, settings: PiiSettings): string {
  const read = said.slice(0, REFUSAL_READ_MAX);
  return previewText(key ? read.replaceAll(key, '…') : read, { ...settings, action: 'redact' }).text;
}

function retryAfter({ headers }: Dispatcher.ResponseData): { retryAfterMs?: number } {
  const seconds = Number(headers['retry-after']);
  return headers['retry-after'] !== undefined && Number.isFinite(seconds) && seconds >= 0 ? { retryAfterMs: seconds * 1_000 } : {};
}
