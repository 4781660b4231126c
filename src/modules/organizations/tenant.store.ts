import { Injectable } from '@nestjs/common';
import type { Tier } from '../../domain/access/tiers.js';
import type { Tx } from '../../platform/database/transaction/tx.js';

export interface Tenant {
  readonly id: string;
  readonly name: string;
  readonly tier: Tier;
  readonly subscriptionActive: boolean;
  readonly status: 'active' | 'deleted';
  /** Where people come in of whom the provider says no more than the tenant. */
  readonly firstOrganizationId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly deletedAt: Date | null;
}

export const TENANT_COLUMNS = `t.id, t.name, t.tier, t.subscription_active as "subscriptionActive", t.status,
  t.first_organization_id as "firstOrganizationId", t.created_at as "createdAt", t.updated_at as "updatedAt",
  t.deleted_at as "deletedAt"`;

/** Rows of tenants. */
@Injectable()
export class TenantStore {
  async read(tx: Tx, id: string): Promise<Tenant | undefined> {
    return (await tx.query<Tenant>(`select ${TENANT_COLUMNS} from tenants t where t.id = $1`, [id]))[0];
  }

  /** The same, where nobody else may change it or count in it until this work ends; organizations may still be made in it. */
  async lock(tx: Tx, id: string): Promise<Tenant | undefined> {
    return (await tx.query<Tenant>(`select ${TENANT_COLUMNS} from tenants t where t.id = $1 for no key update`, [id]))[0];
  }

  async insert(tx: Tx, tenant: Tenant): Promise<void> {
    await tx.query(
      `insert into tenants (id, name, tier, subscription_active, status, first_organization_id, created_at, updated_at, deleted_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [
        tenant.id, tenant.name, tenant.tier, tenant.subscriptionActive, tenant.status, tenant.firstOrganizationId, tenant.createdAt,
        tenant.updatedAt, tenant.deletedAt,
      ],
    );
  }

  async update(tx: Tx, tenant: Tenant): Promise<void> {
    await tx.query(
      `update tenants set name = $2, tier = $3, subscription_active = $4, status = $5, first_organization_id = $6, updated_at = $7,
         deleted_at = $8 where id = $1`,
      [
        tenant.id, tenant.name, tenant.tier, tenant.subscriptionActive, tenant.status, tenant.firstOrganizationId, tenant.updatedAt,
        tenant.deletedAt,
      ],
    );
  }

  /** Its organizations, the oldest first. */
  async organizationsOf(tx: Tx, tenantId: string): Promise<string[]> {
    const rows = await tx.query<{ id: string }>('select id from organizations where tenant_id = $1 order by created_at, id', [tenantId]);
    return rows.map(({ id }) => id);
  }
}
