import { Injectable } from '@nestjs/common';
import { organizationChain } from '../../domain/audit/entry/chain.js';
import { given } from '../../domain/given.js';
import { newId } from '../../domain/ids.js';
import { checkPiiSettings } from '../../domain/pii/settings.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import { Entitlements } from '../../platform/commerce/entitlements.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../platform/database/transaction/unit-of-work.js';
import { invalid } from '../../platform/http/fields/read-members.js';
import { Problem } from '../../platform/http/reply/problem.js';
import type { Reply } from '../../platform/http/reply/replies.js';
import { MakeOrganization } from './make-organization.js';
import type { OrganizationEntity } from './organization.entity.js';
import { OrganizationStore } from './organization.store.js';
import type { MakeOrganizationDto, UpdateOrganizationDto } from './organizations.dto.js';
import { type OrganizationEnvelope, presentOrganization } from './organizations.presenter.js';
import { OrganizationsQuery } from './organizations.query.js';
import { sharedChange } from './shared-change.js';
import { TenantStore } from './tenant.store.js';

/** Makes organizations, and changes their names and settings. */
@Injectable()
export class ChangeOrganizationService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly query: OrganizationsQuery,
    private readonly organizations: OrganizationStore,
    private readonly making: MakeOrganization,
    private readonly tenants: TenantStore,
    private readonly entitlements: Entitlements,
  ) {}

  make(wanted: MakeOrganizationDto, caller: Caller): Promise<Reply<OrganizationEnvelope>> {
    const id = newId('org');
    const chain = organizationChain(id);
    return this.work.run({ chains: [chain], creates: [chain] }, async (tx) => {
      const tenantId = await this.tenantFor(tx, wanted.tenantId, caller);
      if (tenantId !== null) await this.assertMayHaveAnother(tx, tenantId, caller);
      return tx.reply(201, { organization: presentOrganization(await this.making.insert(tx, { id, name: wanted.name, tenantId })) });
    });
  }

  /** Of a tenant without any there is nothing to count. @throws Problem TIER_REQUIRED */
  private async assertMayHaveAnother(tx: Tx, tenantId: string, caller: Caller): Promise<void> {
    const [first] = await this.tenants.organizationsOf(tx, tenantId);
    if (first === undefined) return;
    await this.entitlements.assert((sql, parameters) => tx.query(sql, parameters), first, 'another_organization', caller);
  }

  async update(id: string, wanted: UpdateOrganizationDto, caller: Caller): Promise<Reply<OrganizationEnvelope>> {
    const organizationId = await this.query.choose(caller.scope, id);
    const wrong = wanted.settings?.pii === undefined ? [] : checkPiiSettings(wanted.settings.pii);
    if (wrong.length > 0) throw invalid([...wrong]);
    return this.work.run(sharedChange(organizationId), async (tx) => {
      const former = await this.organizations.read(tx, caller.scope, organizationId);
      const { separationOfDuties: duties, decideByMail, scanPii, pii } = wanted.settings ?? {};
      const settings = given({ separationOfDuties: duties, decideByMail, scanPii, pii });
      const { separationOfDuties } = settings;
      if (separationOfDuties !== undefined && separationOfDuties !== former.separationOfDuties) assertMaySetDuties(caller);
      const set = {
        ...(wanted.name === undefined ? {} : { name: wanted.name }),
        ...settings,
      };
      const changed: OrganizationEntity = { ...former, ...set, updatedAt: await tx.now() };
      await this.organizations.update(tx, changed);
      tx.record(organizationChain(organizationId), {
        type: 'admin.organization_updated',
        metadata: {
          organizationId,
          ...(wanted.name === undefined ? {} : { name: wanted.name }),
          ...(Object.keys(settings).length === 0 ? {} : { settings }),
        },
      });
      return tx.reply(200, { organization: presentOrganization(changed) });
    });
  }

  /**
   * Root says which tenant, if any; an owner's organization belongs to the tenant of their own.
   *
   * @throws Problem FORBIDDEN for an owner outside of any tenant; NOT_FOUND for a tenant that is not there or not theirs
   */
  private async tenantFor(tx: Tx, named: string | undefined, { principal, scope }: Caller): Promise<string | null> {
    if (principal.kind !== 'user') {
      if (named === undefined || (await this.organizations.hasTenant(tx, named))) return named ?? null;
      throw new Problem('NOT_FOUND', NO_TENANT);
    }
    const { tenantId } = await this.organizations.read(tx, scope, principal.organizationId);
    if (tenantId === null) {
      throw new Problem('FORBIDDEN', 'Your organization belongs to no tenant: only root makes organizations beside it.');
    }
    if (named !== undefined && named !== tenantId) throw new Problem('NOT_FOUND', NO_TENANT);
    return tenantId;
  }
}

const NO_TENANT = 'There is no such tenant.';

/** @throws Problem FORBIDDEN: who loosens it might approve their own next */
function assertMaySetDuties({ principal }: Caller): void {
  if (principal.kind === 'user' && principal.role !== 'owner') {
    throw new Problem('FORBIDDEN', 'Only an owner changes separationOfDuties.');
  }
}
