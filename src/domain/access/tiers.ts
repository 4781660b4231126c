/** What tenants subscribe to, least first (interface, section 5: claim `tier`). */
export const TIERS = ['personal', 'teams', 'enterprise'] as const;
export type Tier = (typeof TIERS)[number];

/** What a subscription may leave out. */
export type Feature = 'another_user' | 'teams' | 'shared_grants' | 'another_organization' | 'bulk_export';

interface Limits {
  /** Active accounts, in all of the tenant's organizations; null is any number. */
  readonly users: number | null;
  readonly teams: boolean;
  /** Grants to a team, which all of its agents share. */
  readonly sharedGrants: boolean;
  readonly organizations: number | null;
  /** The audit log as a file. A person's own data is exported under every tier. */
  readonly bulkExport: boolean;
}

/** What each tier includes: the whole truth. What is there already stays, whatever the tier becomes. */
export const LIMITS: Readonly<Record<Tier, Limits>> = {
  personal: { users: 1, teams: false, sharedGrants: false, organizations: 1, bulkExport: false },
  teams: { users: null, teams: true, sharedGrants: true, organizations: 1, bulkExport: false },
  enterprise: { users: null, teams: true, sharedGrants: true, organizations: null, bulkExport: true },
};

/** A tenant's subscription, and what the caller's identity provider says of it. */
export interface Subscription {
  readonly tier: Tier;
  readonly active: boolean;
  /** The claim `has_subscription`, where the caller has one. It takes away; it gives nothing. */
  readonly claimed?: boolean;
}

/** The tier that counts: without an active subscription, the least. */
export function effectiveTier({ tier, active, claimed }: Subscription): Tier {
  return active && claimed !== false ? tier : 'personal';
}

/**
 * @param used how many there are already, of what is counted (`another_user`, `another_organization`)
 * @returns the least tier that would include it; undefined when this one does
 */
export function requiredFor(feature: Feature, tier: Tier, used = 0): Tier | undefined {
  return includes(LIMITS[tier], feature, used) ? undefined : TIERS.find((other) => includes(LIMITS[other], feature, used));
}

function includes({ users, teams, sharedGrants, organizations, bulkExport }: Limits, feature: Feature, used: number): boolean {
  switch (feature) {
    case 'another_user':
      return users === null || used < users;
    case 'another_organization':
      return organizations === null || used < organizations;
    case 'teams':
      return teams;
    case 'shared_grants':
      return sharedGrants;
    case 'bulk_export':
      return bulkExport;
  }
}
