import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { Entitlements } from '../../../platform/commerce/entitlements.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { invalid } from '../../../platform/http/fields/read-members.js';
import type { Reply } from '../../../platform/http/reply/replies.js';
import { GrantStore } from '../../capabilities/grant.store.js';
import { TeamStore } from '../../teams/team.store.js';
import { GrantCapabilityService, isAlive } from './grant-capability.service.js';
import { planOf } from './grant-terms.js';
import type { GrantToDto, NewGrantDto } from './grants.dto.js';
import type { WrittenGrantReply } from './grants.presenter.js';

/** Grants to whichever holder the call names: an agent, or a team whose agents share it. */
@Injectable()
export class GrantToService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly teams: TeamStore,
    private readonly stored: GrantStore,
    private readonly grants: GrantCapabilityService,
    private readonly entitlements: Entitlements,
  ) {}

  async grantTo({ agentId, teamId, ...wanted }: GrantToDto, caller: Caller): Promise<Reply<WrittenGrantReply>> {
    if ((agentId === undefined) === (teamId === undefined)) {
      throw invalid([{ pointer: '/agentId', message: 'either agentId or teamId is required, not both' }]);
    }
    return agentId === undefined ? this.share(teamId!, wanted, caller) : this.grants.grant(agentId, wanted, caller);
  }

  /** To a team: each agent of it holds the capability from the next call on, unless it has a grant of its own. */
  private async share(teamId: string, wanted: NewGrantDto, caller: Caller): Promise<Reply<WrittenGrantReply>> {
    const ref = await this.teams.findRef(caller.scope, teamId);
    const { organizationId } = ref;
    const holder = { organizationId, teamId };
    return this.work.run(planOf(holder), async (tx) => {
      await this.teams.lock(tx, ref);
      const former = await this.stored.unrevoked(tx, holder, wanted.capability);
      // What is shared already may be changed under any subscription.
      if (!former || !isAlive(former, await tx.now())) {
        await this.entitlements.assert((sql, parameters) => tx.query(sql, parameters), organizationId, 'shared_grants', caller);
      }
      const { isNew, reply } = await this.grants.shareWithin(tx, ref, wanted, caller.actorId);
      return tx.reply(isNew ? 201 : 200, reply);
    });
  }
}
