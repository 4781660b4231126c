import { Injectable } from '@nestjs/common';
import type { Claims } from '../../../../domain/access/claims.js';
import { UnitOfWork } from '../../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../../platform/http/reply/problem.js';
import { type ClaimsFrom, type ProviderAccount, ProviderAccounts } from '../../ports/provider-accounts.js';
import { ProviderClient, type ProviderRenewal } from '../../ports/provider-client.js';
import type { SessionRef } from '../../ports/sessions.js';
import { SealedProviderTokens } from '../../sessions/sealed-provider-tokens.js';
import { ApplyRenewalService, type RenewedGrant } from './apply-renewal.service.js';
import { retryIn } from './renewal-schedule.js';
import { type LeasedRenewal, RenewalsStore } from './renewals.store.js';

/** `answered`: by the provider, be it with a refusal. `not_due`: it was not asked. */
export type RenewalOutcome = 'answered' | 'failed' | 'not_due';

const REFUSED: ProviderRenewal = { kind: 'refused' };

/**
 * Renews a session's tokens at the provider, and with them what it says of the person. The lease is committed before the provider is
 * asked: a refresh token that is shown twice costs the session, since the provider takes it for stolen (RFC 9700, section 4.14.2).
 */
@Injectable()
export class RenewSessionService {
  constructor(
    private readonly renewals: RenewalsStore,
    private readonly tokens: SealedProviderTokens,
    private readonly provider: ProviderClient,
    private readonly accounts: ProviderAccounts,
    private readonly landing: ApplyRenewalService,
    private readonly work: UnitOfWork,
  ) {}

  async renew(ref: SessionRef): Promise<RenewalOutcome> {
    const leased = await this.work.run({ chains: [], leavesFacts: true }, (tx) => this.renewals.lease(tx, ref));
    if (leased === undefined) return 'not_due';
    const kept = this.tokens.open(leased.id, leased.tokens);
    if (kept?.refreshToken === undefined) return this.never(leased);
    const renewal = await this.asked(kept.refreshToken);
    if (renewal === undefined) return this.later(leased);
    const isVouchedFor = renewal.kind === 'renewed' && (await this.isAbout(leased, renewal.grant));
    await (isVouchedFor ? this.landing.land(leased, kept, renewal.grant) : this.landing.refuse(leased));
    return 'answered';
  }

  /** @returns undefined where nobody knows what became of it */
  private async asked(refreshToken: string): Promise<ProviderRenewal | undefined> {
    try {
      return await this.provider.renew(refreshToken);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      // It has answered, and by what it answered it vouches for nobody.
      return error.code === 'VALIDATION_FAILED' ? REFUSED : undefined;
    }
  }

  /** Whether the renewed tokens are about the person and the organization of the session. Their claims count at once. */
  private async isAbout({ issuer, userId }: LeasedRenewal, { claims }: RenewedGrant): Promise<boolean> {
    if (claims === undefined) return true;
    const known = await this.accounts.find(issuer, claims);
    if (known === undefined || 'refused' in known || known.person.userId !== userId) return false;
    return !('refused' in (await this.accounts.orMake(issuer, claims, taken(known, claims))));
  }

  private async later(leased: LeasedRenewal): Promise<RenewalOutcome> {
    const failures = leased.failures + 1;
    await this.work.run({ chains: [], leavesFacts: true }, (tx) => this.renewals.putOff(tx, leased, failures, retryIn(failures)));
    return 'failed';
  }

  private async never(leased: LeasedRenewal): Promise<RenewalOutcome> {
    await this.work.run({ chains: [], leavesFacts: true }, (tx) => this.renewals.keep(tx, leased, leased.tokens, null));
    return 'not_due';
  }
}

/**
 * A renewal that leaves out what was claimed before has not taken it back: an id token may hold less than the answer about the user
 * did. What limits somebody stays until it is said otherwise, or they sign in again.
 */
function taken({ person }: ProviderAccount, { role, hasSubscription }: Claims): ClaimsFrom {
  const leavesOut = (role === undefined && person.claimedRole !== undefined)
    || (hasSubscription === undefined && person.hasSubscription !== undefined);
  return leavesOut ? 'credential' : 'sign-in';
}
