import { Inject, Injectable } from '@nestjs/common';
import { organizationChain } from '../../domain/audit/entry/chain.js';
import { CONFIG, type CompleteConfig } from '../../platform/config/config.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import type { OrganizationEntity } from './organization.entity.js';
import { OrganizationStore } from './organization.store.js';

export type NewOrganization = Pick<OrganizationEntity, 'id' | 'name' | 'tenantId'>;

/** The making of an organization, by whomever. */
@Injectable()
export class MakeOrganization {
  constructor(
    private readonly organizations: OrganizationStore,
    @Inject(CONFIG) private readonly config: CompleteConfig,
  ) {}

  /** For a unit of work that creates the organization's chain. Whether its tenant may have another is for whoever calls it. */
  async insert(tx: Tx, { id, name, tenantId }: NewOrganization): Promise<OrganizationEntity> {
    const now = await tx.now();
    const { separationOfDuties } = this.config;
    const organization: OrganizationEntity = {
      id, name, tenantId, separationOfDuties, decideByMail: false, scanPii: 'optional', pii: null, createdAt: now, updatedAt: now,
    };
    await this.organizations.insert(tx, organization);
    tx.record(organizationChain(id), {
      type: 'admin.organization_created',
      metadata: { organizationId: id, name, ...(tenantId === null ? {} : { tenantId }), settings: { separationOfDuties } },
    });
    return organization;
  }
}
