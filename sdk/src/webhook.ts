/** Headers as `fetch` has them, or as Node's HTTP server gives them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface WebhookOptions {
  /** Seconds for which a message is good, before and behind its time. Default: 300. */
  readonly toleranceSeconds?: number;
  /** In place of the clock, as milliseconds since 1970. */
  readonly now?: number;
}

const PREFIX = 'whsec_';
const VERSION = 'v1,';
const TOLERANCE_SECONDS = 300;
const HMAC = { name: 'HMAC', hash: 'SHA-256' } as const;

/**
 * Whether a webhook is the service's (Standard Webhooks 1.0: HMAC-SHA-256 over id, time and body), compared in constant time. A message
 * that comes again within its time holds again: keep the `webhook-id` of those that were handled.
 *
 * @param body the bytes as they came, or their text; not what was parsed of them
 * @param secret as the channel has it, `whsec_…` or a text; several while one is replaced
 * @returns false for whatever does not hold; nothing is thrown but for a secret that is none
 */
export async function verifyWebhook(
  body: string | Uint8Array, headers: WebhookHeaders, secret: string | readonly string[], options: WebhookOptions = {},
): Promise<boolean> {
  const keys = await Promise.all([secret].flat().map(keyOf));
  const [id, time, signatures] = ['id', 'timestamp', 'signature'].map((name) => headerOf(headers, `webhook-${name}`));
  if (id === undefined || time === undefined || signatures === undefined || !/^\d{1,12}$/.test(time)) return false;
  const age = Math.abs((options.now ?? Date.now()) / 1_000 - Number(time));
  if (age > (options.toleranceSeconds ?? TOLERANCE_SECONDS)) return false;
  const text = new TextEncoder();
  const message = joined(text.encode(`${id}.${time}.`), typeof body === 'string' ? text.encode(body) : body);
  const given = signatures.split(' ').filter((one) => one.startsWith(VERSION)).map((one) => bytesOf(one.slice(VERSION.length)));
  const matches = keys.flatMap((key) => given.map(async (one) => one !== undefined && crypto.subtle.verify(HMAC, key, one, message)));
  return (await Promise.all(matches)).includes(true);
}

/** The name of the type differs between platforms. */
type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

async function keyOf(secret: string): Promise<Key> {
  const bytes = secret.startsWith(PREFIX) ? bytesOf(secret.slice(PREFIX.length)) : new TextEncoder().encode(secret);
  if (bytes === undefined || bytes.length === 0) throw new TypeError('The secret of a webhook is a text, or whsec_ and base64.');
  return crypto.subtle.importKey('raw', bytes, HMAC, false, ['verify']);
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : undefined;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
