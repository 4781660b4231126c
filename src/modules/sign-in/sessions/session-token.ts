import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;

/** What can be a session's token: 256 random bits, base64url. */
export const SESSION_TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Goes into the browser's cookie, and is kept nowhere else. */
export function makeSessionToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** SHA-256 in hex: of 256 random bits nobody finds the token back. */
export function hashSessionToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** By which a session is found when the provider ends its own: what the provider calls it is nobody else's to read. */
export function hashProviderSid(issuer: string, sid: string): string {
  return createHash('sha256').update(JSON.stringify([issuer, sid])).digest('hex');
}
