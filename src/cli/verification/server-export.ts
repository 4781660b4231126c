import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { ServerLocation } from './log-location.js';

/** The server answered, and gives no export to whoever asks so. */
export class ServerRefused extends Error {
  override readonly name = 'ServerRefused';
}

const EXPORT = '/api/v1/audit/export';
const CHECKPOINTS = '/api/v1/audit/checkpoints?limit=1';
const KEY = '--key-file or COUNTERSIGN_KEY';
const KEY_REFUSED = [401, 403];
const AGAIN = 'try again; where it does so each time, its own log says why';
/** Codes of an error after the connection was made. */
const BROKEN_OFF = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];
const IS_EXPORT = /^(application\/(x-ndjson|json|gzip)|text\/csv)\b/;

/**
 * Bytes of a server's export.
 *
 * @throws ServerRefused when it gives none
 * @throws Error when it cannot be reached, is no server of ours, or breaks off: in one sentence, with what to do
 */
export async function serverExport(
  { url, key, by }: ServerLocation, selection: Readonly<Record<string, string | number>>, signal?: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  if (key === undefined) throw new Error(`a server is read with a key that may export: give ${KEY} (${by} names the server)`);
  const target = new URL(`${url}${EXPORT}`);
  for (const [name, value] of Object.entries(selection)) target.searchParams.set(name, String(value));
  const asked = { headers: { authorization: `Bearer ${key}` }, redirect: 'manual', ...(signal ? { signal } : {}) } as const;
  const reply = await fetch(target, asked).catch((error: unknown) => {
    signal?.throwIfAborted();
    if (isBrokenOff(error)) throw new Error(`${url} broke off before its export came (${causeOf(error)}): ${AGAIN}`);
    throw new Error(`no server answers at ${url} (${causeOf(error)}): look at ${by}, and whether it runs`);
  });
  const { status, headers, body } = reply;
  if (status >= 300 && status < 400) throw new Error(`${url} sends us on to another address: give that one as ${by}`);
  if (!reply.ok) throw await refusal(reply, `${url} answered ${status}`, by);
  if (body === null || !IS_EXPORT.test(headers.get('content-type') ?? '')) {
    throw new Error(`${target.origin}${target.pathname} answers with something else than an export: look at ${by}`);
  }
  return toTheEnd(body, url, signal);
}

/** The newest checkpoint of the platform's tree, as the server says; undefined where it has none. */
export async function serverCheckpoint({ url }: ServerLocation): Promise<{ readonly origin: string; readonly size: number } | undefined> {
  const asked = fetch(`${url}${CHECKPOINTS}`, { redirect: 'manual' }).then((reply) => reply.json() as Promise<JsonValue>);
  const answer = await asked.catch(() => null);
  const [newest] = isJsonObject(answer) && Array.isArray(answer['checkpoints']) ? answer['checkpoints'] : [];
  if (!isJsonObject(newest ?? null)) return undefined;
  const { origin, size } = newest as JsonObject;
  return typeof origin === 'string' && typeof size === 'number' ? { origin, size } : undefined;
}

async function refusal(reply: Response, answered: string, by: string): Promise<Error> {
  const { code, detail, title } = (await reply.json().catch(() => ({}))) as { code?: string; detail?: string; title?: string };
  const said = `${answered}: ${detail ?? title ?? reply.statusText}`;
  if (code === undefined) return new Error(`${said}. That is no server of Countersign: ${by} is its address, without /api/v1`);
  if (KEY_REFUSED.includes(reply.status)) return new ServerRefused(`${said} Give a key that may export: ${KEY}`);
  const isElsewhere = reply.status === 404 && new URL(reply.url).pathname !== EXPORT;
  if (isElsewhere) return new ServerRefused(`${said} ${by} is its address, without /api/v1`);
  return reply.status < 500 ? new ServerRefused(said) : new Error(said);
}

async function* toTheEnd(body: AsyncIterable<Uint8Array>, url: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(`${url} broke off in the middle of its export (${causeOf(error)}): ${AGAIN}`);
  }
}

/** Whether somebody was there, and went. */
function isBrokenOff(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } };
  return BROKEN_OFF.includes(String(cause?.code));
}

/** `fetch` says only that it failed; why stands beneath. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  const deepest = cause instanceof AggregateError ? cause.errors[0] as unknown : (cause ?? error);
  return deepest instanceof Error && deepest.message !== '' ? deepest.message : String(deepest);
}
