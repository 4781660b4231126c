import { Injectable } from '@nestjs/common';
import { SealedBox } from '../../../platform/secrets/sealed-box.js';
import type { ProviderTokens } from '../ports/sessions.js';

/** The provider's tokens as they are kept: sealed for the one session that they belong to. */
@Injectable()
export class SealedProviderTokens {
  constructor(private readonly box: SealedBox) {}

  seal(sessionId: string, tokens: ProviderTokens): Buffer {
    return this.box.seal('sessions', sessionId, Buffer.from(JSON.stringify(tokens)));
  }

  /** @returns undefined for what was not sealed for this session */
  open(sessionId: string, sealed: Uint8Array): ProviderTokens | undefined {
    const opened = this.box.open('sessions', sessionId, sealed);
    return opened && (JSON.parse(opened.toString('utf8')) as ProviderTokens);
  }
}
