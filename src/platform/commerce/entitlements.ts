import { Injectable } from '@nestjs/common';
import type { Feature, Tier } from '../../domain/access/tiers.js';
import type { RunStatement } from '../auth/credentials/credential-source.js';
import type { Caller } from '../auth/access/principal.js';
import { Problem } from '../http/reply/problem.js';

/** Says which feature an organization's subscription lacks. Registered by the module that knows tenants. */
export interface EntitlementSource {
  /**
   * The least tier that would include the feature; undefined when the present one does. What it counts, it counts in the caller's
   * transaction and under a lock, so that of two calls at once only one gets the last unit.
   */
  missing(run: RunStatement, organizationId: string, feature: Feature, caller?: Caller): Promise<Tier | undefined>;
}

/** What an organization may have more of. Without a source everything: nobody sells this installation. */
@Injectable()
export class Entitlements {
  private source: EntitlementSource | undefined;

  use(source: EntitlementSource): void {
    this.source = source;
  }

  /**
   * Before something new is made; what is there already is never asked about.
   *
   * @throws Problem TIER_REQUIRED with `requiredTier`
   */
  async assert(run: RunStatement, organizationId: string, feature: Feature, caller?: Caller): Promise<void> {
    const requiredTier = await this.source?.missing(run, organizationId, feature, caller);
    if (requiredTier === undefined) return;
    throw new Problem('TIER_REQUIRED', `${WORDS[feature]}: the tier ${requiredTier} includes it.`, { members: { requiredTier } });
  }
}

const WORDS: Readonly<Record<Feature, string>> = {
  another_user: 'The subscription includes no more people',
  teams: 'The subscription includes no teams',
  shared_grants: 'The subscription includes no grants to teams',
  another_organization: 'The subscription includes no more organizations',
  bulk_export: 'The subscription does not include the audit log as a file',
};
