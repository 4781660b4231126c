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
    return this.change(teamId, caller, async (tx, place) => {
      await this.stored.read(tx, place);
      await this.users.assertActive(tx, place.organizationId, userId);
      const now = await tx.now();
      const former = await this.members.find(tx, place, userId);
      if (!former) await this.assertTeams(tx, place, caller);
      if (!former) await this.members.insert(tx, place, userId, { role, since: now });
      else if (former.role !== role) await this.members.changeRole(tx, place, userId, role, now);
      recordTeam(tx, place, { change: former ? 'member_updated' : 'member_added', userId, role });
      return tx.reply(former ? 200 : 201, memberOf(userId, role, former?.since ?? now));
    });
  }

  async removeMember(teamId: string, userId: string, caller: Caller): Promise<Reply<undefined>> {
    return this.change(teamId, caller, async (tx, place) => {
      await this.stored.read(tx, place);
      const member = await this.members.find(tx, place, userId);
      const counts = member !== undefined && (await this.users.isActive(tx, place.organizationId, userId));
      if (!counts) throw new Problem('NOT_FOUND', 'There is no such member.');
      await this.members.remove(tx, place, userId);
      recordTeam(tx, place, { change: 'member_removed', userId });
      return tx.reply(204, undefined);
    });
  }

  /** @throws Problem TIER_REQUIRED */
  private assertTeams(tx: Tx, { organizationId }: TeamRef, caller: Caller): Promise<void> {
    return this.entitlements.assert((sql, parameters) => tx.query(sql, parameters), organizationId, 'teams', caller);
  }

  private async change<Body>(teamId: string, caller: Caller, story: (tx: Tx, place: TeamRef) => Promise<Body>): Promise<Body> {
    const place = await this.stored.place(caller.scope, teamId);
    return this.work.run(sharedChange(place.organizationId), (tx) => story(tx, place));
  }
}

function memberOf(userId: string, role: TeamRole, since: Date): MemberEnvelope {
  return { member: { userId, role, since: since.toISOString() } };
}
