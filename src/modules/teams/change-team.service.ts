import { Injectable } from '@nestjs/common';
import { newId } from '../../domain/ids.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import { Entitlements } from '../../platform/commerce/entitlements.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../platform/database/transaction/unit-of-work.js';
import type { Reply } from '../../platform/http/reply/replies.js';
import { OrganizationsQuery } from '../organizations/organizations.query.js';
import { sharedChange } from '../organizations/shared-change.js';
import { recordTeam } from './record-team.js';
import { type Team, type TeamRef, TeamStore } from './team.store.js';
import type { NewTeamDto, UpdateTeamDto } from './teams.dto.js';
import { type TeamEnvelope, presentTeamWithMembers } from './teams.presenter.js';
import { TeamsQuery } from './teams.query.js';

/**
 * Makes and changes teams. Who may decide depends on it, for every agent of the organization:
 * so each change is one of shared facts, in the organization's chain.
 */
@Injectable()
export class ChangeTeamService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly organizations: OrganizationsQuery,
    private readonly stored: TeamStore,
    private readonly teams: TeamsQuery,
    private readonly entitlements: Entitlements,
  ) {}

  async create(wanted: NewTeamDto, caller: Caller): Promise<Reply<TeamEnvelope>> {
    const organizationId = await this.organizations.choose(caller.scope, wanted.organizationId);
    return this.work.run(sharedChange(organizationId), async (tx) => {
      await this.entitlements.assert((sql, parameters) => tx.query(sql, parameters), organizationId, 'teams', caller);
      const now = await tx.now();
      const { name, description = null } = wanted;
      const team: Team = { organizationId, id: newId('team'), name, description, createdAt: now, updatedAt: now };
      await this.stored.insert(tx, team);
      recordTeam(tx, team, { change: 'created', name, ...(description === null ? {} : { description }) });
      return tx.reply(201, { team: presentTeamWithMembers({ ...team, members: [] }) });
    });
  }

  async update(teamId: string, { name, description }: UpdateTeamDto, caller: Caller): Promise<Reply<TeamEnvelope>> {
    return this.change(teamId, caller, async (tx, ref) => {
      const former = await this.stored.read(tx, ref);
      const set = {
        ...(name === undefined ? {} : { name }),
        ...(description === undefined || description === null ? {} : { description }),
      };
      const cleared = description === null ? { description: null } : {};
      await this.stored.update(tx, { ...former, ...set, ...cleared, updatedAt: await tx.now() });
      recordTeam(tx, ref, { change: 'updated', ...set, ...(description === null ? { cleared: ['description'] } : {}) });
      return tx.reply(200, { team: presentTeamWithMembers(await this.teams.readWithin(tx, ref)) });
    });
  }

  private async change<Body>(teamId: string, caller: Caller, work: (tx: Tx, ref: TeamRef) => Promise<Body>): Promise<Body> {
    const ref = await this.stored.findRef(caller.scope, teamId);
    return this.work.run(sharedChange(ref.organizationId), (tx) => work(tx, ref));
  }
}
