import type { JsonObject } from '../../../domain/json.js';
import { parseStrictJson } from '../../http/request/strict-json.js';

/** Three parts of base64url; what they say is for others. */
const FORM = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
/** The header of this service's own tokens, encoded once: `{"alg":"HS256","typ":"JWT"}`. */
const OWN_HEADER = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.';

/**
 * One part of a JWT (RFC 7519). Strict, like every other JSON from outside: a claim that stands twice would mean what the reader likes,
 * and of two spellings of the same bytes only one is right.
 */
export function jwtPart(part: string): JsonObject | undefined {
  const bytes = Buffer.from(part, 'base64url');
  if (bytes.toString('base64url') !== part) return undefined;
  const parsed = parseStrictJson(bytes);
  return parsed.ok && typeof parsed.value === 'object' && parsed.value !== null && !Array.isArray(parsed.value) ? parsed.value : undefined;
}

/**
 * Whether a bearer credential is a token by a public key, which is the identity provider's to have signed. What is by a secret, by
 * nothing, or no token at all, is judged with the agents' tokens.
 */
export function isByPublicKey(bearer: string): boolean {
  if (bearer.startsWith(OWN_HEADER) || bearer.startsWith('svc_') || !FORM.test(bearer)) return false;
  const alg = jwtPart(bearer.slice(0, bearer.indexOf('.')))?.['alg'];
  return typeof alg === 'string' && alg !== 'none' && !alg.startsWith('HS');
}
