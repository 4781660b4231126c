import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * What is to be erased has to be kept while it is searched for; in the table, and in what backups hold of it, it is readable with
 * ENCRYPTION_KEY alone (AES-256-GCM; the erasure's id is authenticated beside it). The row forgets it when the search has ended.
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

  /** @throws Error when they were sealed with another key, or for another erasure */
  open(id: string, sealed: Buffer | null): string[] {
    if (sealed === null) return [];
    const decipher = createDecipheriv('aes-256-gcm', this.key, sealed.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(id))
      .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const text = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    return JSON.parse(text.toString('utf8')) as string[];
  }
}
