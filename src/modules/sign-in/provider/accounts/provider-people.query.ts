import { Injectable } from '@nestjs/common';
import type { Role } from '../../../../domain/access/access.js';
import { StatementsOnPool } from '../../../../platform/database/statements/statements-on-pool.js';

/** An account of a provider's user, as it stands, and what the provider has said of them last. */
export interface IdentityRow {
  readonly organizationId: string;
  readonly userId: string;
  readonly role: Role;
  readonly status: string;
  readonly tenantId: string | null;
  /** The organizations of the tenant, where the record is an owner's. */
  readonly reached: readonly string[];
  readonly claimedRole: Role | null;
  readonly claimedRoleSince: Date;
  readonly hasSubscription: boolean | null;
  readonly claimsAt: Date;
}

// The tenant's other organizations are an owner's too.
const FIND = `
  select i.organization_id as "organizationId", i.user_id as "userId", u.role, u.status, o.tenant_id as "tenantId",
    array(select other.id from organizations other where other.tenant_id = o.tenant_id and u.role = 'owner') as reached,
    i.claimed_role as "claimedRole", i.claimed_role_since as "claimedRoleSince", i.has_subscription as "hasSubscription",
    i.claims_at as "claimsAt"
  from user_identities i
  join users u on u.organization_id = i.organization_id and u.id = i.user_id
  join organizations o on o.id = i.organization_id
  where i.subject = $1 and i.issuer = $2`;

const HOME_OF_TENANT = `
  select coalesce(t.first_organization_id,
    (select o.id from organizations o where o.tenant_id = t.id order by o.created_at, o.id limit 1)) as id
  from tenants t where t.id = $1 and t.status = 'active'`;

const HOME_NAMED = `
  select o.id from organizations o left join tenants t on t.id = o.tenant_id where o.id = $1 and coalesce(t.status, 'active') = 'active'`;

const HOME_OF_ALL = `
  select first_organization_id as id from instance where not exists (select 1 from tenants)`;

/** Who somebody is, looked up by what the provider says: before there is a scope. */
@Injectable()
export class ProviderPeopleQuery {
  constructor(private readonly pool: StatementsOnPool) {}

  async find(issuer: string, subject: string): Promise<IdentityRow | undefined> {
    const [row] = await this.pool.run(FIND, [subject, issuer]);
    return row as IdentityRow | undefined;
  }

  /** Where somebody new belongs of whom the provider says this tenant, or none. */
  async home(tenantId: string | undefined): Promise<string | undefined> {
    const sql = tenantId === undefined ? HOME_OF_ALL : tenantId.startsWith('org_') ? HOME_NAMED : HOME_OF_TENANT;
    const [row] = await this.pool.run(sql, tenantId === undefined ? [] : [tenantId]);
    return (row?.['id'] ?? undefined) as string | undefined;
  }
}
