import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/auth/access/principal.js';
import { Entitlements } from '../../platform/commerce/entitlements.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../platform/http/reply/problem.js';
import type { Reply } from '../../platform/http/reply/replies.js';
import { ActiveUsersQuery } from '../organizations/users/active-users.query.js';
import { sharedChange } from '../organizations/shared-change.js';
import { MemberStore, type TeamRole } from './member.store.js';
import { recordTeam } from './record-team.js';
import { type TeamRef, TeamStore } from './team.store.js';
import type { NewMemberDto } from './teams.dto.js';
import type { MemberEnvelope } from './teams.presenter.js';

/** Says who belongs to teams: a change of shared facts, in the organization's chain, as a change of the team itself is. */
@Injectable()
export class ChangeMembersService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly users: ActiveUsersQuery,
    private readonly stored: TeamStore,
    private readonly members: MemberStore,
    private readonly entitlements: Entitlements,
  ) {}

  /** Adding somebody again says their role anew; since when they belong to the team stays. */
  async addMember(teamId: string, wanted: NewMemberDto, caller: Caller): Promise<Reply<MemberEnvelope>> {
    const { userId, role = 'member' } = wanted;
    return this.change(teamId, caller, async (tx, ref) => {
      await this.stored.read(tx, ref);
      await this.users.assertActive(tx, ref.organizationId, userId);
      const now = await tx.now();
      const former = await this.members.find(tx, ref, userId);
      if (!former) await this.assertTeams(tx, ref, caller);
      if (!former) await this.members.insert(tx, ref, userId, { role, since: now });
      else if (former.role !== role) await this.members.changeRole(tx, ref, userId, role, now);
      recordTeam(tx, ref, { change: former ? 'member_updated' : 'member_added', userId, role });
      return tx.reply(former ? 200 : 201, memberOf(userId, role, former?.since ?? now));
    });
  }

  async removeMember(teamId: string, userId: string, caller: Caller): Promise<Reply<undefined>> {
    return this.change(teamId, caller, async (tx, ref) => {
      await this.stored.read(tx, ref);
      const member = await this.members.find(tx, ref, userId);
      const counts = member !== undefined && (await this.users.isActive(tx, ref.organizationId, userId));
      if (!counts) throw new Problem('NOT_FOUND', 'There is no such member.');
      await this.members.remove(tx, ref, userId);
      recordTeam(tx, ref, { change: 'member_removed', userId });
      return tx.reply(204, undefined);
    });
  }

  /** @throws Problem TIER_REQUIRED */
  private assertTeams(tx: Tx, { organizationId }: TeamRef, caller: Caller): Promise<void> {
    return this.entitlements.assert((sql, parameters) => tx.query(sql, parameters), organizationId, 'teams', caller);
  }

  private async change<Body>(teamId: string, caller: Caller, work: (tx: Tx, ref: TeamRef) => Promise<Body>): Promise<Body> {
    const ref = await this.stored.findRef(caller.scope, teamId);
    return this.work.run(sharedChange(ref.organizationId), (tx) => work(tx, ref));
  }
}

function memberOf(userId: string, role: TeamRole, since: Date): MemberEnvelope {
  return { member: { userId, role, since: since.toISOString() } };
}
