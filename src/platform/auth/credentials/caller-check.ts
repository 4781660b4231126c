import { Inject, Injectable } from '@nestjs/common';
import { StatementsOnPool } from '../../database/statements/statements-on-pool.js';
import { Problem } from '../../http/reply/problem.js';
import { requestContext } from '../../http/request/request-context.js';
import { AddressLimit } from '../../rate-limit/address-limit.js';
import { AuthJournal } from '../failures/auth-journal.js';
import type { PresentedCredentials } from './bearer.js';
import { CredentialSources } from './credential-source.js';
import type { Caller, Principal } from '../access/principal.js';
import type { Scope } from '../access/scope.js';

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
    const isOver = principal.kind === 'agent' && principal.expiresAt * 1_000 <= Date.now();
    const reason = isOver ? `the ${principal.credential} has expired` : await this.whyNot(principal);
    if (reason !== undefined) throw new Problem('UNAUTHENTICATED', `This credential does not hold: ${reason}.`);
  }

  /**
   * For a caller who stays: the credential is read anew, as if it came now, and must reach what it reached.
   * @throws Problem UNAUTHENTICATED, AGENT_INACTIVE
   */
  async assertReaches({ principal, scope }: Caller, shown: PresentedCredentials): Promise<void> {
    const presented = await this.sources.of(principal)!.present(shown, { held: true });
    if (presented.kind !== 'verified') throw new Problem('UNAUTHENTICATED', 'This credential does not hold any more.');
    if (reachOf(presented.caller.scope) !== reachOf(scope)) {
      throw new Problem('UNAUTHENTICATED', 'What this credential reaches has changed.');
    }
    if (presented.fresh !== true) await this.assertHolds(presented.caller);
  }

  private async whyNot(principal: Principal): Promise<string | undefined> {
    return this.sources.of(principal)?.stillHolds(principal, this.pool.run);
  }
}

/** The same text for the same reach, in whatever order it was read. */
function reachOf({ organizations, agentId }: Scope): string {
  return JSON.stringify([organizations === 'all' ? 'all' : [...organizations].sort(), agentId]);
}
