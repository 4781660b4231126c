import { Injectable } from '@nestjs/common';
import { organizationChain } from '../../domain/audit/entry/chain.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../platform/http/reply/problem.js';
import type { Reply } from '../../platform/http/reply/replies.js';
import { AgentStore } from '../agents/agent.store.js';
import { GrantStore } from '../capabilities/grant.store.js';
import { sharedChange } from '../organizations/shared-change.js';
import { TeamStore } from '../teams/team.store.js';

/** Ends a team that no agent belongs to, with its grants and its memberships. */
@Injectable()
export class RemoveTeamService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly teams: TeamStore,
    private readonly agents: AgentStore,
    private readonly grants: GrantStore,
  ) {}

  async remove(teamId: string, caller: Caller): Promise<Reply<undefined>> {
    const ref = await this.teams.findRef(caller.scope, teamId);
    const { organizationId, id } = ref;
    const chain = organizationChain(organizationId);
    return this.work.run(sharedChange(organizationId), async (tx) => {
      // The row first: an agent that is joining holds it, and one that comes later finds it gone.
      await this.teams.lockToRemove(tx, ref);
      const agents = await this.agents.countOfTeam(tx, organizationId, id);
      if (agents > 0) throw new Problem('CONFLICT', `${countedAgents(agents)} to this team; move or remove them first.`);
      const revoked = await this.grants.revokeOfTeam(tx, organizationId, id, caller.actorId);
      for (const { id: grantId, version, capability } of revoked) {
        const metadata = { grantId, version, teamId: id, capability, reason: 'team_deleted' };
        tx.record(chain, { type: 'capability.revoked', capability, metadata });
      }
      await this.teams.remove(tx, ref);
      tx.record(chain, { type: 'admin.team_changed', metadata: { teamId: id, change: 'deleted' } });
      return tx.reply(204, undefined);
    });
  }
}

function countedAgents(agents: number): string {
  return agents === 1 ? '1 agent belongs' : `${agents} agents belong`;
}
