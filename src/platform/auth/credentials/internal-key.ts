import { timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type CompleteConfig } from '../../config/config.js';

/** INTERNAL_API_KEY: the key of the platform that sells the service. It may look like anything, so others leave it alone by asking. */
@Injectable()
export class InternalKey {
  private readonly key: Buffer | undefined;

  constructor(@Inject(CONFIG) { internalApiKey }: Pick<CompleteConfig, 'internalApiKey'>) {
    this.key = internalApiKey === undefined ? undefined : Buffer.from(internalApiKey, 'utf8');
  }

  /** The time of the comparison reveals at most the length of the key. */
  is(bearer: string): boolean {
    if (this.key === undefined || bearer.length !== this.key.length) return false;
    const shown = Buffer.from(bearer, 'utf8');
    return shown.length === this.key.length && timingSafeEqual(shown, this.key);
  }
}
