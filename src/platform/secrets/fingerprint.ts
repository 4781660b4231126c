import { createHmac } from 'node:crypto';

const KEY_ID_DIGITS = 8;

/** Keyed by the secret itself, so that a fingerprint says nothing but "the same" or "another". 32 hexadecimal digits. */
export function fingerprintOf(secret: string): string {
  return fingerprintBy(secret, 'countersign secret fingerprint v1');
}

export function fingerprintBy(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex').slice(0, 32);
}

/** What tokens and sealed values name their key by: the beginning of its fingerprint. It chooses a key, and proves nothing. */
export function keyIdOf(secret: string): string {
  return idOfFingerprint(fingerprintOf(secret));
}

export function idOfFingerprint(fingerprint: string): string {
  return fingerprint.slice(0, KEY_ID_DIGITS);
}
