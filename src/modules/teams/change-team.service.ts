import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../../domain/audit/catalogue.js';
import { organizationChain } from '../../domain/audit/chain.js';
import { newId } from '../../domain/ids.js';
import type { Caller } from '../../platform/auth/principal.js';
import type { Tx } from '../../platform/database/tx.js';
import { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Problem } from '../../platform/http/problem.js';
import type { Reply } from '../../platform/http/replies.js';
import { ActiveUsersQuery } from '../organizations/active-users.query.js';
import { OrganizationsQuery } from '../organizations/organizations.query.js';
import { sharedChange } from '../organizations/shared-change.js';
import { MemberStore, type TeamRole } from './member.store.js';
import { type Team, type TeamPlace, TeamStore } from './team.store.js';
import type { NewMemberDto, NewTeamDto, UpdateTeamDto } from './teams.dto.js';
import { type MemberEnvelope, type TeamEnvelope, presentTeamWithMembers } from './teams.presenter.js';
import { TeamsQuery } from './teams.query.js';

/** The members of `admin.team_changed` besides the team's id. */
type TeamChange = Omit<Extract<AuditEvent, { type: 'admin.team_changed' }>['metadata'], 'teamId'>;

/**
 * Makes and changes teams, and says who belongs to them. Who may decide depends on it, for every agent of the organization:
 * so each change is one of shared facts, in the organization's chain.
 */
@Injectable()
export class ChangeTeamService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly organizations: OrganizationsQuery,
    private readonly users: ActiveUsersQuery,
    private readonly stored: TeamStore,
    private readonly members: MemberStore,
    private readonly teams: TeamsQuery,
  ) {}

  async create(wanted: NewTeamDto, caller: Caller): Promise<Reply<TeamEnvelope>> {
    const organizationId = await this.organizations.choose(caller.scope, wanted.organizationId);
    return this.work.run(sharedChange(organizationId), async (tx) => {
      const now = await tx.now();
      const { name, description = null } = wanted;
      const team: Team = { organizationId, id: newId('team'), name, description, createdAt: now, updatedAt: now };
      await this.stored.insert(tx, team);
      record(tx, team, { change: 'created', name, ...(description === null ? {} : { description }) });
      return tx.reply(201, { team: presentTeamWithMembers({ ...team, members: [] }) });
    });
  }

  async update(teamId: string, { name, description }: UpdateTeamDto, caller: Caller): Promise<Reply<TeamEnvelope>> {
    return this.change(teamId, caller, async (tx, place) => {
      const former = await this.stored.read(tx, place);
      const set = {
        ...(name === undefined ? {} : { name }),
        ...(description === undefined || description === null ? {} : { description }),
      };
      const cleared = description === null ? { description: null } : {};
      await this.stored.update(tx, { ...former, ...set, ...cleared, updatedAt: await tx.now() });
      record(tx, place, { change: 'updated', ...set, ...(description === null ? { cleared: ['description'] } : {}) });
      return tx.reply(200, { team: presentTeamWithMembers(await this.teams.readWithin(tx, place)) });
    });
  }

  /** Adding somebody again says their role anew; since when they belong to the team stays. */
  async addMember(teamId: string, wanted: NewMemberDto, caller: Caller): Promise<Reply<MemberEnvelope>> {
    const { userId, role = 'member' } = wanted;
    return this.change(teamId, caller, async (tx, place) => {
      await this.stored.read(tx, place);
      await this.users.assertActive(tx, place.organizationId, userId);
      const now = await tx.now();
      const former = await this.members.find(tx, place, userId);
      if (!former) await this.members.insert(tx, place, userId, { role, since: now });
      else if (former.role !== role) await this.members.changeRole(tx, place, userId, role, now);
      record(tx, place, { change: former ? 'member_updated' : 'member_added', userId, role });
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
      record(tx, place, { change: 'member_removed', userId });
      return tx.reply(204, undefined);
    });
  }

  private async change<Body>(teamId: string, caller: Caller, story: (tx: Tx, place: TeamPlace) => Promise<Body>): Promise<Body> {
    const place = await this.stored.place(caller.scope, teamId);
    return this.work.run(sharedChange(place.organizationId), (tx) => story(tx, place));
  }
}

function record(tx: Tx, { organizationId, id }: TeamPlace, change: TeamChange): void {
  tx.record(organizationChain(organizationId), { type: 'admin.team_changed', metadata: { teamId: id, ...change } });
}

function memberOf(userId: string, role: TeamRole, since: Date): MemberEnvelope {
  return { member: { userId, role, since: since.toISOString() } };
}
