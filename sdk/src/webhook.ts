import { checkOptions, CountersignError } from './errors.js';

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
 * @returns false for whatever does not hold
 * @throws CountersignError INVALID_OPTIONS for arguments that are none: a parsed body, no headers, no secret
 */
export async function verifyWebhook(
  body: string | Uint8Array, headers: WebhookHeaders, secret: string | readonly string[], options: WebhookOptions = {},
): Promise<boolean> {
  checkOptions(options, 'verifyWebhook', 'toleranceSeconds now');
  const isBody = typeof body === 'string' || ArrayBuffer.isView(body);
  if (!isBody) throw invalid('the bytes of the body as they came, or their text; not what was parsed');
  if (typeof headers !== 'object' || headers === null) throw invalid('the headers of the request');
  const keys = await Promise.all((Array.isArray(secret) && secret.length > 0 ? secret as string[] : [secret as string]).map(keyOf));
  const [id, time, signatures] = ['id', 'timestamp', 'signature'].map((name) => headerOf(headers, `webhook-${name}`));
  if (id === undefined || time === undefined || signatures === undefined || !/^\d{1,12}$/.test(time)) return false;
  const age = Math.abs((options.now ?? Date.now()) / 1_000 - Number(time));
  // Of what is no number nothing holds.
  if (!(age <= (options.toleranceSeconds ?? TOLERANCE_SECONDS))) return false;
  const message = await new Blob([`${id}.${time}.`, body as string]).arrayBuffer();
  const given = signatures.split(' ').filter((one) => one.startsWith(VERSION)).map((one) => bytesOf(one.slice(VERSION.length)));
  const matches = keys.flatMap((key) => given.map(async (one) => one !== undefined && crypto.subtle.verify(HMAC, key, one, message)));
  return (await Promise.all(matches)).includes(true);
}

const invalid = (needed: string) => new CountersignError('INVALID_OPTIONS', { detail: `verifyWebhook needs ${needed}.` });

/** The name of the type differs between platforms. */
type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

async function keyOf(secret: string): Promise<Key> {
  const isText = typeof secret === 'string';
  const bytes = isText && secret.startsWith(PREFIX) ? bytesOf(secret.slice(PREFIX.length)) : new TextEncoder().encode(isText ? secret : '');
  if (bytes === undefined || bytes.length === 0) throw invalid('the secret as the channel has it: a text, or whsec_ and base64');
  return crypto.subtle.importKey('raw', bytes, HMAC, false, ['verify']);
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return (headers as Headers).get(name) ?? undefined;
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
