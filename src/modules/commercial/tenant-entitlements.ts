import { Injectable } from '@nestjs/common';
import { effectiveTier, type Feature, requiredFor, type Tier } from '../../domain/access/tiers.js';
import type { RunStatement } from '../../platform/auth/credentials/credential-source.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import { Entitlements, type EntitlementSource } from '../../platform/commerce/entitlements.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { countOrganizations, countUsers, lockedTenant } from './subscription.query.js';

type Count = (run: RunStatement, tenantId: string) => Promise<number>;

/** What there may be a number of; anything else is included or not. */
const COUNTS: Partial<Record<Feature, Count>> = { another_user: countUsers, another_organization: countOrganizations };

/**
 * What tenants have subscribed to. The limits are the tenant's, whoever calls, root too; an organization without a tenant has none. Only
 * what is new is measured: a downgrade takes nothing away that is there.
 */
@Injectable()
export class TenantEntitlements implements EntitlementSource {
  constructor(entitlements: Entitlements) {
    entitlements.use(this);
  }

  /** @throws Problem FORBIDDEN where the tenant has been deleted: nothing new comes to it */
  async missing(run: RunStatement, organizationId: string, feature: Feature, caller?: Caller): Promise<Tier | undefined> {
    const count = COUNTS[feature];
    const tenant = await lockedTenant(run, organizationId, count !== undefined);
    if (tenant === undefined) return undefined;
    // Its log can still be taken along.
    if (tenant.isDeleted && feature !== 'bulk_export') {
      throw new Problem('FORBIDDEN', 'The tenant of this organization has been deleted: nothing new is made in it.');
    }
    const tier = effectiveTier({ tier: tenant.tier, active: tenant.active, ...claimOf(caller) });
    const isEnough = requiredFor(feature, tier, Number.MAX_SAFE_INTEGER) === undefined;
    return isEnough ? undefined : requiredFor(feature, tier, await count?.(run, tenant.id));
  }
}

function claimOf(caller: Caller | undefined): { readonly claimed?: boolean } {
  const principal = caller?.principal;
  return principal?.kind === 'user' && principal.hasSubscription !== undefined ? { claimed: principal.hasSubscription } : {};
}
