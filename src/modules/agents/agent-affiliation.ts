import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/auth/access/principal.js';
import { Entitlements } from '../../platform/commerce/entitlements.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { ActiveUsersQuery } from '../organizations/users/active-users.query.js';
import { TeamStore } from '../teams/team.store.js';

/** The owner and team that an agent is to have; null or left out: no new one. */
export interface WantedAffiliation {
  ownerId?: string | null;
  teamId?: string | null;
}

/** An agent's owner and team are of its own organization. The owner may close their account later: the agent keeps the name. */
@Injectable()
export class AgentAffiliation {
  constructor(
    private readonly users: ActiveUsersQuery,
    private readonly teams: TeamStore,
    private readonly entitlements: Entitlements,
  ) {}

  /**
   * Locks the team against its removal until this unit of work ends. An agent that joins a team gets the team's grants, so the
   * subscription has to include teams.
   *
   * @param formerTeamId the team of an agent that exists already
   * @throws Problem NOT_FOUND, alike for what does not exist and what is another organization's; TIER_REQUIRED
   */
  async assertWithin(
    tx: Tx, organizationId: string, { ownerId, teamId }: WantedAffiliation, caller: Caller, formerTeamId: string | null = null,
  ): Promise<void> {
    if (typeof ownerId === 'string') await this.users.assertActive(tx, organizationId, ownerId);
    if (typeof teamId !== 'string') return;
    await this.teams.lock(tx, { organizationId, id: teamId });
    if (teamId === formerTeamId) return;
    await this.entitlements.assert((sql, parameters) => tx.query(sql, parameters), organizationId, 'teams', caller);
  }
}
