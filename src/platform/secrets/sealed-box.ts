import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type CompleteConfig } from '../config/config.js';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** What a key is for: one that leaks, or is used where it should not be, opens nothing else. */
export type SealPurpose =
  'sign-in' | 'sessions' | 'mail' | 'provider-account' | 'forms' | 'challenges' | 'slow-downs' | 'spent-once' | 'erasures' | 'channels'
  | 'chat-links' | 'secrets';

/**
 * Seals what has to be kept or carried by somebody else and read by us alone (AES-256-GCM, a random nonce each), and marks what only
 * has to be ours (HMAC-SHA-256). Each purpose has keys of its own, by HKDF (RFC 5869) from ENCRYPTION_KEY.
 */
@Injectable()
export class SealedBox {
  private readonly secret: Buffer;
  private readonly keys = new Map<string, Buffer>();

  constructor(@Inject(CONFIG) config: Pick<CompleteConfig, 'encryptionKey'>) {
    this.secret = Buffer.from(config.encryptionKey, 'base64');
  }

  /** @param aad what it belongs to (a session's id): opened for something else, it does not open */
  seal(purpose: SealPurpose, aad: string, bytes: Uint8Array): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key('seal', purpose), nonce).setAAD(Buffer.from(aad));
    const sealed = Buffer.concat([cipher.update(bytes), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /** @returns undefined for what was not sealed by this key, for this purpose, with this `aad` */
  open(purpose: SealPurpose, aad: string, sealed: Uint8Array): Buffer | undefined {
    if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', this.key('seal', purpose), sealed.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(aad))
      .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    } catch {
      return undefined;
    }
  }

  /** 64 hexadecimal digits over the parts, in this order; where one ends and the next begins is part of it. */
  mac(purpose: SealPurpose, ...parts: readonly string[]): string {
    return createHmac('sha256', this.key('mac', purpose)).update(JSON.stringify(parts)).digest('hex');
  }

  private key(use: 'seal' | 'mac', purpose: SealPurpose): Buffer {
    const name = `${use} ${purpose}`;
    let key = this.keys.get(name);
    if (key === undefined) {
      key = Buffer.from(hkdfSync('sha256', this.secret, Buffer.alloc(0), `countersign ${name} v1`, 32));
      this.keys.set(name, key);
    }
    return key;
  }
}
