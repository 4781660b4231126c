import { isIP } from 'node:net';
import { z } from 'zod';
import { weaknessOf } from './weak-secret.js';

/** Types of environment values: text in, a checked value out. Messages say what is wanted and never repeat the value. */

const UNITS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

export const text = () => z.string();

export function integer(min: number, max: number) {
  return z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);
}

/** A number of days, with up to 6 decimals: a millionth is 86 ms. */
export function days(min: number, max: number) {
  const wanted = `must be a number of days from ${min.toFixed(6)} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,6}(\.\d{1,30})?$/, wanted)
    .transform(Number)
    .refine((value) => value >= min && value <= max, wanted);
}

export function fraction() {
  const wanted = 'must be a number from 0 to 1, such as 0.1';
  return z.string().regex(/^\d(\.\d{1,9})?$/, wanted).transform(Number).refine((value) => value <= 1, wanted);
}

/** Headers as OpenTelemetry writes them: `name=value`, separated by commas, values in percent encoding (W3C Baggage). */
export function headerList() {
  const wanted = 'must be headers such as authorization=Bearer%20…, separated by commas';
  return z.string().transform((value, context) => {
    const pairs = value.split(',').map((item) => /^\s*([\w!#$%&'*+.^`|~-]+)\s*=(.*)$/.exec(item));
    try {
      const headers = pairs.map((pair) => [pair![1]!.toLowerCase(), decodeURIComponent(pair![2]!.trim())] as const);
      if (headers.every(([, text]) => /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text))) return Object.fromEntries(headers);
    } catch {
      // Not a pair, or not in percent encoding.
    }
    context.addIssue(wanted);
    return z.NEVER;
  });
}

export const port = () => integer(1, 65_535);

/** A length of time in whole seconds: `3600`, `90s`, `15m`, `8h` or `30d`. */
export function duration(min: number, max: number) {
  const wanted = `must be a length of time such as 90s, 15m, 8h or 30d, from ${min} to ${max} seconds`;
  return z
    .string()
    .regex(/^\d{1,9}[smhd]?$/, wanted)
    .transform((value) => {
      const unit = value.at(-1) as keyof typeof UNITS;
      return parseInt(value, 10) * (UNITS[unit] ?? 1);
    })
    .refine((seconds) => seconds >= min && seconds <= max, wanted);
}

export function flag() {
  return z
    .string()
    .toLowerCase()
    .pipe(z.enum(['true', 'false', '1', '0'], 'must be true or false'))
    .transform((value) => value === 'true' || value === '1');
}

export function oneOf<const T extends readonly [string, ...string[]]>(values: T) {
  return z.string().pipe(z.enum(values, `must be one of ${values.join(', ')}`));
}

/** An absolute address without a fragment; credentials in it would end up in logs, so they are refused. */
export function httpUrl() {
  return z.string().refine((value) => {
    const url = parseUrl(value);
    return url !== undefined && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.hash;
  }, 'must be an http or https address, without credentials or fragment');
}

/** An address that others extend with a path, so a closing slash is taken off. */
export const baseUrl = () =>
  httpUrl()
    .refine((value) => !value.includes('?'), 'must be an http or https address without a query')
    .transform((value) => value.replace(/\/+$/, ''));

export function postgresUrl() {
  return z.string().refine((value) => {
    const url = parseUrl(value);
    return url !== undefined && /^postgres(ql)?:$/.test(url.protocol) && (url.hostname !== '' || url.searchParams.has('host'));
  }, 'must be an address such as postgres://user:password@host:5432/database');
}

export function list(accepts: (item: string) => boolean, wanted: string) {
  return z
    .string()
    .transform((value) => value.split(',').map((item) => item.trim()).filter((item) => item !== ''))
    .refine((items) => items.every(accepts), wanted);
}

/** Scopes of OAuth 2.0 (RFC 6749, section 3.3), one of them `openid`. */
export const scopeList = () =>
  z
    .string()
    .transform((value) => [...new Set(value.split(/\s+/).filter((scope) => scope !== ''))])
    .refine(
      (scopes) => scopes.includes('openid') && scopes.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)),
      'must be scopes separated by spaces, openid among them',
    );

export const originList = () =>
  list(
    (item) => /^https?:\/\//.test(item) && parseUrl(item)?.origin === item,
    'must be origins such as https://console.example.com, separated by commas (no path, no wildcard)',
  );

export const networkList = () => list(isNetwork, 'must be IP addresses or networks such as 10.0.0.0/8, separated by commas');

/** What may be reached although it is not public: host names and addresses (with or without a port), and networks. */
export const destinationList = () =>
  list(
    (item) => isNetwork(item) || /^(\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?)(:\d{1,5})?$/i.test(item),
    'must be host names, addresses (with or without a port) or networks such as 10.0.0.0/8, separated by commas',
  );

export const anchorList = () =>
  list(
    (item) => item === 'none' || /^file:./.test(item) || (item.startsWith('witness:') && httpUrl().safeParse(item.slice(8)).success),
    'must be anchors, each file:<folder> or witness:<url>, separated by commas; or none',
  );

function isNetwork(item: string): boolean {
  const [address = '', bits, ...rest] = item.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** A secret that people type or make: long enough and not one that is known, repeated or counted. */
export function secretText(min: number) {
  return z.string().superRefine((value, context) => {
    if (value.length < min) context.addIssue(`must be at least ${min} characters long`);
    else {
      const weakness = weaknessOf(value);
      if (weakness) context.addIssue(weakness);
    }
  });
}

/** A secret that is sent as a bearer credential: of its characters (RFC 6750, section 2.1), and none of the forms of our own keys. */
export function bearerSecret(min: number) {
  return secretText(min)
    .refine((value) => /^[A-Za-z0-9._~+/=-]+$/.test(value), 'may have letters, digits and . _ ~ + / = - only, as bearer credentials do')
    .refine((value) => !value.startsWith('svc_'), 'must not begin with svc_, as the keys of the service do');
}

/** A 32-byte key in base64 (RFC 4648 section 4, or section 5's alphabet), kept as standard base64 with padding. */
export function key32() {
  const wanted = 'must be 32 bytes in base64 (44 characters)';
  return z
    .string()
    .regex(/^[A-Za-z0-9+/_-]{43}=?$/, wanted)
    .transform((value) => Buffer.from(value, 'base64').toString('base64'))
    .refine((value) => Buffer.from(value, 'base64').length === 32, wanted)
    .refine((value) => new Set(Buffer.from(value, 'base64')).size >= 12, 'is trivially repetitive: make a random one')
    .refine((value) => !weaknessOf(Buffer.from(value, 'base64').toString('latin1')), 'is not random: make a random one');
}

const isPredictable = (text: string) => new Set(text).size < 8 || weaknessOf(text) !== undefined;

export const rootKey = () =>
  z
    .string()
    .regex(/^svc_root_[0-9a-f]{64}$/, 'must be svc_root_ followed by 64 hexadecimal digits in lower case')
    .refine((value) => !isPredictable(value.slice('svc_root_'.length)), 'is trivially repetitive: make a random one');

/** Signing secret of outgoing webhooks: Standard Webhooks' `whsec_` form (24 to 64 bytes in base64), or plain text. */
export const webhookSecret = () =>
  z.string().superRefine((value, context) => {
    if (value.startsWith('whsec_')) {
      const bytes = Buffer.from(value.slice(6), 'base64');
      const wellFormed = /^[A-Za-z0-9+/]+={0,2}$/.test(value.slice(6)) && bytes.length >= 24 && bytes.length <= 64;
      if (!wellFormed) context.addIssue('must be whsec_ followed by 24 to 64 bytes in base64');
      else if (new Set(bytes).size < 8) context.addIssue('is trivially repetitive: make a random one');
      return;
    }
    const plain = secretText(32).safeParse(value);
    for (const issue of plain.error?.issues ?? []) context.addIssue(issue.message);
  });


/** `URL.parse`, which Node 20 does not have. */
function parseUrl(value: string): URL | undefined {
  return URL.canParse(value) ? new URL(value) : undefined;
}
