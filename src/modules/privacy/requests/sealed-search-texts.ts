import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts the texts that an erasure searches for, which the table and its backups hold until the erasure ends (AES-256-GCM by a key
 * from ENCRYPTION_KEY; the id of the erasure is authenticated with the texts).
 */
@Injectable()
export class SealedSearchTexts {
  private readonly key: Buffer;

  constructor(@Inject(CONFIG) config: Pick<CompleteConfig, 'encryptionKey'>) {
    const secret = Buffer.from(config.encryptionKey, 'base64');
    this.key = Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), 'countersign erasure texts v1', 32));
  }

  seal(id: string, texts: readonly string[]): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce).setAAD(Buffer.from(id));
    const sealed = Buffer.concat([cipher.update(JSON.stringify(texts), 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /** @throws Error where the texts were sealed with another key, or for another erasure */
  open(id: string, sealed: Buffer | null): string[] {
    if (sealed === null) return [];
    const decipher = createDecipheriv('aes-256-gcm', this.key, sealed.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(id))
      .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const text = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    return JSON.parse(text.toString('utf8')) as string[];
  }
}
