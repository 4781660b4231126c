import { Injectable } from '@nestjs/common';
import { organizationChain, platformChain } from '../../domain/audit/entry/chain.js';
import { newId } from '../../domain/ids.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../platform/http/reply/problem.js';
import type { Reply } from '../../platform/http/reply/replies.js';
import { MakeOrganization } from '../organizations/make-organization.js';
import { type Tenant, TenantStore } from '../organizations/tenant.store.js';
import type { MakeTenantDto, SubscriptionDto, UpdateTenantDto } from './tenants.dto.js';
import { presentTenant, type TenantEnvelope } from './tenants.presenter.js';

/** Makes tenants, and changes what they are called and what they have subscribed to. All of it stands in the platform's chain. */
@Injectable()
export class ChangeTenantService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly tenants: TenantStore,
    private readonly making: MakeOrganization,
  ) {}

  /** With its first organization, whose chain begins here. */
  make({ name, tier = 'personal' }: MakeTenantDto): Promise<Reply<TenantEnvelope>> {
    const [id, organizationId] = [newId('ten'), newId('org')];
    const chain = organizationChain(organizationId);
    return this.work.run({ chains: [platformChain(), chain], creates: [chain] }, async (tx) => {
      const now = await tx.now();
      const tenant: Tenant = {
        id, name, tier, subscriptionActive: true, status: 'active', firstOrganizationId: organizationId, createdAt: now, updatedAt: now,
        deletedAt: null,
      };
      await this.tenants.insert(tx, tenant);
      await this.making.insert(tx, { id: organizationId, name, tenantId: id });
      tx.record(platformChain(), {
        type: 'admin.tenant_changed', metadata: { tenantId: id, change: 'created', name, tier, subscriptionActive: true },
      });
      return tx.reply(201, { tenant: presentTenant(tenant) });
    });
  }

  update(id: string, { name }: UpdateTenantDto): Promise<Reply<TenantEnvelope>> {
    return this.change(id, async (tx, former) => {
      tx.record(platformChain(), {
        type: 'admin.tenant_changed', metadata: { tenantId: id, change: 'updated', ...(name === undefined ? {} : { name }) },
      });
      return { ...former, name: name ?? former.name };
    });
  }

  /**
   * What rests on the former subscription holds the tenant's row (subscription.query.ts), so this waits for it; once this is answered,
   * nothing more comes of it. Decisions of the gate do not ask for it: they go on.
   */
  subscribe(id: string, { tier, active }: SubscriptionDto): Promise<Reply<TenantEnvelope>> {
    return this.change(id, async (tx, former) => {
      tx.record(platformChain(), {
        type: 'admin.tenant_changed', metadata: { tenantId: id, change: 'subscription', tier, subscriptionActive: active },
      });
      return { ...former, tier, subscriptionActive: active };
    });
  }

  /** @throws Problem NOT_FOUND; CONFLICT once it has been deleted */
  private change(id: string, act: (tx: Tx, former: Tenant) => Promise<Tenant>): Promise<Reply<TenantEnvelope>> {
    return this.work.run({ chains: [platformChain()] }, async (tx) => {
      const former = await this.tenants.lock(tx, id);
      if (!former) throw new Problem('NOT_FOUND', 'There is no such tenant.');
      if (former.status === 'deleted') throw new Problem('CONFLICT', 'The tenant has been deleted.');
      const changed: Tenant = { ...await act(tx, former), updatedAt: await tx.now() };
      await this.tenants.update(tx, changed);
      return tx.reply(200, { tenant: presentTenant(changed) });
    });
  }
}
