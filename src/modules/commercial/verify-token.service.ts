import { Injectable } from '@nestjs/common';
import { effectiveTier } from '../../domain/access/tiers.js';
import { recordsNothing } from '../../platform/auth/access/call-context.js';
import { StatementsOnPool } from '../../platform/database/statements/statements-on-pool.js';
import type { Problem } from '../../platform/http/reply/problem.js';
import { invalid } from '../../platform/http/fields/read-members.js';
import { type ProviderAccount, ProviderAccounts } from '../sign-in/ports/provider-accounts.js';
import { ProviderClient } from '../sign-in/ports/provider-client.js';
import { tenantOf } from './subscription.query.js';
import type { VerifiedClaims } from './verify-token.presenter.js';

/** Answers the platform which account a token of the identity provider would have here. It signs nobody in, and makes no account. */
@Injectable()
export class VerifyTokenService {
  constructor(
    private readonly provider: ProviderClient,
    private readonly accounts: ProviderAccounts,
    private readonly pool: StatementsOnPool,
  ) {}

  /** @throws Problem VALIDATION_FAILED for a token that opens nothing here; UNAVAILABLE while the provider's keys are not to be had */
  async verify(token: string): Promise<{ claims: VerifiedClaims }> {
    recordsNothing();
    const { issuer } = this.provider;
    if (issuer === undefined) throw refused('cannot be verified: this installation has no identity provider');
    const verified = await this.provider.verify(token);
    if (!verified.ok) throw refused(`does not hold: ${verified.reason}`);
    const { claims, expiresAt: exp } = verified;
    const found = await this.accounts.find(issuer, claims);
    if (found !== undefined && 'refused' in found) throw refused(`opens nothing here (${found.refused})`);
    const { sub, email, hasSubscription, managed, issuedAt: iat } = claims;
    return {
      claims: {
        sub,
        ...(found ? await this.recorded(found) : { user_id: null, tenant_id: null, tier: null, role: null }),
        ...(email === undefined ? {} : { email }),
        ...(hasSubscription === undefined ? {} : { has_subscription: hasSubscription }),
        ...(managed === undefined ? {} : { managed }),
        ...(iat === undefined ? {} : { iat }),
        exp,
      },
    };
  }

  /** An organization without a tenant stands for one: it is its own, and nothing is missing to it. */
  private async recorded({ person }: ProviderAccount): Promise<Pick<VerifiedClaims, 'user_id' | 'tenant_id' | 'tier' | 'role'>> {
    const { userId, organizationId, role, hasSubscription } = person;
    const tenant = await tenantOf(this.pool.run, organizationId);
    const claimed = hasSubscription === undefined ? {} : { claimed: hasSubscription };
    return {
      user_id: userId,
      tenant_id: tenant?.id ?? organizationId,
      tier: tenant ? effectiveTier({ tier: tenant.tier, active: tenant.active, ...claimed }) : 'enterprise',
      role,
    };
  }
}

function refused(message: string): Problem {
  return invalid([{ pointer: '/token', message }]);
}
