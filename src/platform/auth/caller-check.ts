import { Inject, Injectable } from '@nestjs/common';
import { StatementsOnPool } from '../database/statements-on-pool.js';
import { Problem } from '../http/problem.js';
import { CredentialSources } from './credential-source.js';
import type { Caller } from './principal.js';

/**
 * The guard's second half, for routes that leave it to their commit: whoever is refused before there is anything to
 * commit must still be judged first.
 */
@Injectable()
export class CallerCheck {
  constructor(
    @Inject(CredentialSources) private readonly sources: CredentialSources,
    private readonly pool: StatementsOnPool,
  ) {}

  /** @throws Problem UNAUTHENTICATED, AGENT_INACTIVE */
  async assertHolds({ principal }: Caller): Promise<void> {
    const reason = await this.sources.of(principal.kind)?.stillHolds(principal, this.pool.run);
    if (reason !== undefined) throw new Problem('UNAUTHENTICATED', `This credential does not hold: ${reason}.`);
  }
}
