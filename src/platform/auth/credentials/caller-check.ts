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
 * The second half of the guard, for routes whose commit does it: a call that is refused before anything is committed has its caller
 * judged here first.
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
   * Compares a caller with present state whom the guard has not compared.
   * @throws Problem UNAUTHENTICATED, AGENT_INACTIVE, RATE_LIMITED
   */
  async judge({ principal }: Caller): Promise<void> {
    const reason = await this.whyNot(principal);
    if (reason !== undefined) await this.refuse(principal, reason);
  }

  /**
   * Refuses a credential that the commit found invalid. It counts against its address like one that the guard refuses, and past the
   * limit it leaves no entry either.
   * @throws Problem UNAUTHENTICATED, RATE_LIMITED
   */
  async refuse(principal: Principal, reason: string): Promise<never> {
    this.sources.of(principal)?.forget?.(principal);
    const address = requestContext.getStore()?.address;
    const headers = await this.addresses.takeFrom(address);
    // All routes whose commit judges the caller are of one method.
    await this.journal.failedFrom(address, reason, 'POST');
    throw new Problem('UNAUTHENTICATED', `This credential does not hold: ${reason}.`, { headers });
  }

  /**
   * Compares a caller with present state again who has waited since the guard did.
   * @throws Problem UNAUTHENTICATED, AGENT_INACTIVE
   */
  async assertHolds({ principal }: Caller): Promise<void> {
    const isOver = principal.kind === 'agent' && principal.expiresAt * 1_000 <= Date.now();
    const reason = isOver ? `the ${principal.credential} has expired` : await this.whyNot(principal);
    if (reason !== undefined) throw new Problem('UNAUTHENTICATED', `This credential does not hold: ${reason}.`);
  }

  /**
   * For a caller who keeps a stream open: the credential is verified anew, and its scope must still be the same.
   * @throws Problem UNAUTHENTICATED, AGENT_INACTIVE
   */
  async assertReaches({ principal, scope }: Caller, shown: PresentedCredentials): Promise<void> {
    const presented = await this.sources.of(principal)!.present(shown, { isWaiting: true });
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

/** The same text for the same scope, in whatever order it was read. */
function reachOf({ organizations, agentId }: Scope): string {
  return JSON.stringify([organizations === 'all' ? 'all' : [...organizations].sort(), agentId]);
}
