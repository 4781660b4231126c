import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** `svc_root_` and 64 hexadecimal digits (interface, section 5). */
export const ROOT_KEY_FORM = /^svc_root_[0-9a-f]{64}$/;

export function makeRootKey(): string {
  return `svc_root_${randomBytes(32).toString('hex')}`;
}

/** Only this is stored. The key has 256 random bits, so a plain SHA-256 is not guessable. */
export function hashRootKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

export function sameHash(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a, 'hex'), Buffer.from(b, 'hex'));
}
