import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { ChangeMembersService } from './change-members.service.js';
import { ChangeTeamService } from './change-team.service.js';
import { MemberStore } from './member.store.js';
import { TeamsPersonalData } from './personal-data.store.js';
import { TeamStore } from './team.store.js';
import { TeamsController } from './teams.controller.js';
import { TeamsQuery } from './teams.query.js';

/** Teams and who belongs to them. A team's end is of the lifecycle module, which knows its agents and its grants. */
@Module({
  imports: [OrganizationsModule],
  controllers: [TeamsController],
  providers: [TeamStore, MemberStore, TeamsQuery, ChangeTeamService, ChangeMembersService, TeamsPersonalData],
  exports: [TeamStore],
})
export class TeamsModule {}
