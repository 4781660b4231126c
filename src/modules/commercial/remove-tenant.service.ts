import { Injectable } from '@nestjs/common';
import { organizationChain, platformChain } from '../../domain/audit/entry/chain.js';
import { newId } from '../../domain/ids.js';
import { recordsNothing } from '../../platform/auth/access/call-context.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { type Reply, reply } from '../../platform/http/reply/replies.js';
import { CloseAccount } from '../organizations/users/close-account.js';
import { sharedChange } from '../organizations/shared-change.js';
import { StopStore } from '../organizations/stops/stop.store.js';
import { TenantStore } from '../organizations/tenant.store.js';
import { UserStore } from '../organizations/users/user.store.js';

const REASON = 'The tenant was deleted.';
/** Accounts that one unit of work closes: decisions and people of the organization wait no longer than that takes. */
const AT_ONCE = 50;

/**
 * The end of a tenant: nobody of it comes in any more, and none of its agents acts. Data and log stay, for those who have to account for
 * them. It is marked first, so that nothing new comes; then its organizations are gone through, each part in a unit of work of its own.
 * A call that broke off is repeated: what is done already is not done again.
 */
@Injectable()
export class RemoveTenantService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly tenants: TenantStore,
    private readonly users: UserStore,
    private readonly closing: CloseAccount,
    private readonly stops: StopStore,
  ) {}

  /** @throws Problem NOT_FOUND for one that never was */
  async remove(id: string, { actorId }: Caller): Promise<Reply<undefined>> {
    // Nothing is left to record where all of it has been done before.
    recordsNothing();
    for (const organizationId of await this.mark(id)) {
      await this.stop(organizationId, actorId);
      while (await this.closeSome(organizationId, actorId)) { /* until none is open */ }
    }
    return reply(204, undefined);
  }

  /** @returns its organizations: once it is marked there come no more */
  private mark(id: string): Promise<string[]> {
    return this.work.run({ chains: [platformChain()] }, async (tx) => {
      const tenant = await this.tenants.lock(tx, id);
      if (!tenant) throw new Problem('NOT_FOUND', 'There is no such tenant.');
      if (tenant.status !== 'deleted') {
        const now = await tx.now();
        await this.tenants.update(tx, { ...tenant, status: 'deleted', updatedAt: now, deletedAt: now });
        tx.record(platformChain(), { type: 'admin.tenant_changed', metadata: { tenantId: id, change: 'deleted' } });
      }
      return this.tenants.organizationsOf(tx, id);
    });
  }

  /** Answered once nothing that was decided without it is under way. Only another decision of the platform's would lift it. */
  private stop(organizationId: string, actorId: string): Promise<void> {
    return this.work.run({ ...sharedChange(organizationId), urgent: true }, async (tx) => {
      if (await this.stops.isStoppedFor(tx, organizationId, REASON)) return;
      const stop = {
        organizationId, id: newId('stp'), scope: 'organization', agentId: null, reason: REASON, madeBy: actorId, madeByRole: 'root',
        madeAt: await tx.now(), liftedBy: null, liftedAt: null,
      } as const;
      await this.stops.insert(tx, stop);
      tx.record(organizationChain(organizationId), {
        type: 'admin.stop_started', metadata: { stopId: stop.id, scope: stop.scope, targetId: organizationId, reason: REASON },
      });
    });
  }

  /** @returns whether there may be more */
  private closeSome(organizationId: string, actorId: string): Promise<boolean> {
    return this.work.run(sharedChange(organizationId), async (tx) => {
      const open = await this.users.someActive(tx, organizationId, AT_ONCE);
      for (const user of open) await this.closing.close(tx, user, actorId);
      return open.length === AT_ONCE;
    });
  }
}
