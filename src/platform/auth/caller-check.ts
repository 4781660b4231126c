import { Inject, Injectable } from '@nestjs/common';
import { StatementsOnPool } from '../database/statements-on-pool.js';
import { Problem } from '../http/problem.js';
import { requestContext } from '../http/request-context.js';
import { AddressLimit } from '../rate-limit/address-limit.js';
import { AuthJournal } from './auth-journal.js';
import { CredentialSources } from './credential-source.js';
import type { Caller, Principal } from './principal.js';

/**
 * The guard's second half, for routes that leave it to their commit: whoever is refused before there is anything to
 * commit must still be judged first.
 */
@Injectable()
export class CallerCheck {
  constructor(
    @Inject(CredentialSources) private readonly sources: CredentialSources,
    private readonly pool: StatementsOnPool,
    private readonly journal: AuthJournal,
    private readonly addresses: AddressLimit,
  ) {}

  /**
   * For a caller whom nobody has judged yet.
   * @throws Problem UNAUTHENTICATED, AGENT_INACTIVE, RATE_LIMITED
   */
  async judge({ principal }: Caller): Promise<void> {
    const reason = await this.whyNot(principal);
    if (reason !== undefined) await this.refuse(reason);
  }

  /**
   * A credential that does not hold is a failed authentication, whoever found out: it counts against its address like
   * one that the guard refuses, and past the limit it leaves no entry either.
   * @throws Problem UNAUTHENTICATED, RATE_LIMITED
   */
  async refuse(reason: string): Promise<never> {
    const address = requestContext.getStore()?.address;
    const headers = await this.addresses.takeFrom(address);
    // Routes that leave the judgement to their commit are all of one method.
    await this.journal.failedFrom(address, reason, 'POST');
    throw new Problem('UNAUTHENTICATED', `This credential does not hold: ${reason}.`, { headers });
  }

  /**
   * For a caller who was judged when they came, and has waited since.
   * @throws Problem UNAUTHENTICATED, AGENT_INACTIVE
   */
  async assertHolds({ principal }: Caller): Promise<void> {
    const reason = await this.whyNot(principal);
    if (reason !== undefined) throw new Problem('UNAUTHENTICATED', `This credential does not hold: ${reason}.`);
  }

  private async whyNot(principal: Principal): Promise<string | undefined> {
    return this.sources.of(principal.kind)?.stillHolds(principal, this.pool.run);
  }
}
