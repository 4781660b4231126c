import { Injectable } from '@nestjs/common';
import { SealedBox } from '../../../platform/secrets/sealed-box.js';

/** Encrypts the texts that an erasure searches for, which the table and its backups hold until the erasure ends. */
@Injectable()
export class SealedSearchTexts {
  constructor(private readonly box: SealedBox) {}

  seal(erasureId: string, texts: readonly string[]): Buffer {
    return this.box.seal('erasures', erasureId, Buffer.from(JSON.stringify(texts)));
  }

  /** @throws Error where the texts were sealed with another key, or for another erasure */
  open(erasureId: string, sealed: Buffer | null): string[] {
    if (sealed === null) return [];
    const text = this.box.open('erasures', erasureId, sealed);
    if (!text) throw new Error('the texts of the erasure were sealed with another ENCRYPTION_KEY');
    return JSON.parse(text.toString('utf8')) as string[];
  }
}
