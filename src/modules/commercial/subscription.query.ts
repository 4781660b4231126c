import type { Tier } from '../../domain/access/tiers.js';
import type { RunStatement } from '../../platform/auth/credentials/credential-source.js';

/** A tenant as its limits know it. */
export interface SubscribedTenant {
  readonly id: string;
  readonly tier: Tier;
  readonly active: boolean;
  readonly isDeleted: boolean;
}

const OF_ORGANIZATION = `
  select t.id, t.tier, t.subscription_active as active, t.status = 'deleted' as "isDeleted"
  from organizations o join tenants t on t.id = o.tenant_id where o.id = $1`;

/** The tenant of an organization, as it is at this moment. */
export async function tenantOf(run: RunStatement, organizationId: string): Promise<SubscribedTenant | undefined> {
  return (await run(OF_ORGANIZATION, [organizationId]))[0] as SubscribedTenant | undefined;
}

/**
 * The same, locked until the caller's transaction ends: a change of the subscription waits, and after the answer to it nothing commits
 * that was allowed under the former one.
 *
 * @param counting whether something of the tenant is counted: then one at a time
 */
export async function lockedTenant(run: RunStatement, organizationId: string, counting: boolean): Promise<SubscribedTenant | undefined> {
  const locked = `${OF_ORGANIZATION} for ${counting ? 'no key update' : 'share'} of t`;
  return (await run(locked, [organizationId]))[0] as SubscribedTenant | undefined;
}

/** Open accounts in all of the tenant's organizations. */
export async function countUsers(run: RunStatement, tenantId: string): Promise<number> {
  const [row] = await run(
    `select count(*)::integer as count from organizations o join users u on u.organization_id = o.id and u.status = 'active'
     where o.tenant_id = $1`,
    [tenantId],
  );
  return Number(row!.count);
}

export async function countOrganizations(run: RunStatement, tenantId: string): Promise<number> {
  const [row] = await run('select count(*)::integer as count from organizations where tenant_id = $1', [tenantId]);
  return Number(row!.count);
}
