import { createHash, randomBytes } from 'node:crypto';

/** `svc_user_` and 64 hexadecimal digits: a form of its own, so that a leaked one is recognised for what it is. */
export const PERSONAL_KEY_FORM = /^svc_user_[0-9a-f]{64}$/;

export function makePersonalKey(): string {
  return `svc_user_${randomBytes(32).toString('hex')}`;
}

/** Only this is stored. The key has 256 random bits, so a plain SHA-256 is not guessable. */
export function hashPersonalKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
