import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { ReadinessFacts, type ReadinessFact } from '../../../platform/audit/readiness-facts.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { ReservedPool } from '../../../platform/database/reserved-pool.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { otherKey, signerOf } from './signer.js';

/**
 * Whether this replica's key is the one that signs. With a retired key, as after a rotation until its restart, a replica serves calls and
 * another one signs; where this key has not vouched for the other, the leader sets maintenance mode.
 */
@Injectable()
export class SigningKeyFact implements ReadinessFact {
  readonly name = 'signing key';
  private isLogged = false;

  constructor(
    private readonly reserve: ReservedPool,
    facts: ReadinessFacts,
    @Inject(CONFIG) private readonly config: CompleteConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    facts.register(this);
  }

  async look(): Promise<{ signingKey: 'current' | 'retired' | 'replaced' }> {
    const other = await otherKey(this.reserve.run, await signerOf(this.reserve.run, this.config.auditSigningKey));
    if (!other) return { signingKey: 'current' };
    if (!other.isVouchedFor) return { signingKey: 'replaced' };
    if (!this.isLogged) {
      this.isLogged = true;
      this.logger.error({ signsNow: other.keyId, own: other.ownId }, 'AUDIT_SIGNING_KEY was rotated: start this replica with the new one');
    }
    return { signingKey: 'retired' };
  }
}
