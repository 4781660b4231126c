import { Injectable } from '@nestjs/common';
import { type Scope, covers } from '../../platform/auth/access/scope.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { OrganizationEntity } from './organization.entity.js';

@Injectable()
export class OrganizationStore {
  /** @throws Problem NOT_FOUND, also for one that the caller does not reach */
  async read(tx: Tx, scope: Scope, id: string): Promise<OrganizationEntity> {
    const found = covers(scope, { organizationId: id }) ? await tx.manager.getRepository(OrganizationEntity).findOneBy({ id }) : null;
    if (!found) throw new Problem('NOT_FOUND', 'There is no such organization.');
    return found;
  }

  async insert(tx: Tx, organization: OrganizationEntity): Promise<void> {
    await tx.manager.getRepository<object>(OrganizationEntity).insert(organization);
  }

  async update(tx: Tx, { id, ...rest }: OrganizationEntity): Promise<void> {
    await tx.manager.getRepository<object>(OrganizationEntity).update({ id }, rest);
  }

  /** Whether there is such a tenant. It then stays until this work ends; that it is in service, the entitlements see to. */
  async hasTenant(tx: Tx, tenantId: string): Promise<boolean> {
    const rows = await tx.query('select 1 from tenants where id = $1 for key share', [tenantId]);
    return rows.length > 0;
  }
}
