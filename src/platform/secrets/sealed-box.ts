import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type CompleteConfig } from '../config/config.js';
import { keyIdOf } from './fingerprint.js';

const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** What a key is for: one that leaks, or is used where it should not be, opens nothing else. */
export type SealPurpose =
  'sign-in' | 'sessions' | 'mail' | 'provider-account' | 'forms' | 'challenges' | 'slow-downs' | 'spent-once' | 'erasures' | 'channels'
  | 'chat-links' | 'secrets' | 'node-results' | 'mark-key';

/** ENCRYPTION_KEY, or the one that is accepted besides, and what of it each purpose has. */
interface SealingKey {
  readonly id: Buffer;
  readonly secret: Buffer;
  readonly derived: Map<string, Buffer>;
}

/**
 * Seals what has to be kept or carried by somebody else and read by us alone (AES-256-GCM, a random nonce each), and marks what only
 * has to be ours (HMAC-SHA-256). Each purpose has keys of its own, by HKDF (RFC 5869) from ENCRYPTION_KEY, or from the key of marks.
 * What is sealed begins with its key's id (4 bytes); what was sealed before there were ids is tried with each key.
 */
@Injectable()
export class SealedBox {
  /** The first one seals. */
  private readonly keys: readonly [SealingKey, ...SealingKey[]];
  private readonly marks: SealingKey;

  constructor(@Inject(CONFIG) config: Pick<CompleteConfig, 'encryptionKey' | 'encryptionKeyAccepted' | 'markKey'>) {
    const { encryptionKey, encryptionKeyAccepted: accepted, markKey } = config;
    this.keys = [sealingKey(encryptionKey), ...(accepted === undefined ? [] : [sealingKey(accepted)])];
    this.marks = { id: Buffer.alloc(0), secret: markKey ?? firstMarkKey(encryptionKey), derived: new Map() };
  }

  /** @param aad what it belongs to (a session's id): opened for something else, it does not open */
  seal(purpose: SealPurpose, aad: string, bytes: Uint8Array): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const [key] = this.keys;
    const cipher = createCipheriv('aes-256-gcm', derivedKey(key, `seal ${purpose}`), nonce).setAAD(Buffer.from(aad));
    const sealed = Buffer.concat([cipher.update(bytes), cipher.final()]);
    return Buffer.concat([key.id, nonce, cipher.getAuthTag(), sealed]);
  }

  /** @returns undefined for what was not sealed by a key of ours, for this purpose, with this `aad` */
  open(purpose: SealPurpose, aad: string, sealed: Uint8Array): Buffer | undefined {
    for (const key of this.keys.filter(({ id }) => id.equals(sealed.subarray(0, KEY_ID_BYTES)))) {
      const opened = openBy(key, purpose, aad, sealed.subarray(KEY_ID_BYTES));
      if (opened !== undefined) return opened;
    }
    for (const key of this.keys) {
      const opened = openBy(key, purpose, aad, sealed);
      if (opened !== undefined) return opened;
    }
    return undefined;
  }

  /** 64 hexadecimal digits over the parts, in this order; where one ends and the next begins is part of it. */
  mac(purpose: SealPurpose, ...parts: readonly string[]): string {
    return createHmac('sha256', derivedKey(this.marks, `mac ${purpose}`)).update(JSON.stringify(parts)).digest('hex');
  }
}

/** The key of marks of an installation that is set up with this ENCRYPTION_KEY. */
export function firstMarkKey(encryptionKey: string): Buffer {
  return derivedKey(sealingKey(encryptionKey), 'marks');
}

function sealingKey(encryptionKey: string): SealingKey {
  return { id: Buffer.from(keyIdOf(encryptionKey), 'hex'), secret: Buffer.from(encryptionKey, 'base64'), derived: new Map() };
}

function derivedKey({ secret, derived }: SealingKey, use: string): Buffer {
  let key = derived.get(use);
  if (key === undefined) {
    key = Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), `countersign ${use} v1`, 32));
    derived.set(use, key);
  }
  return key;
}

function openBy(key: SealingKey, purpose: SealPurpose, aad: string, sealed: Uint8Array): Buffer | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', derivedKey(key, `seal ${purpose}`), sealed.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(aad))
    .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}
