import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { CapabilitiesModule } from '../capabilities/capabilities.module.js';
import { HitlModule } from '../hitl/hitl.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { TeamsModule } from '../teams/teams.module.js';
import { EndWorkService } from './leaving/end-work.service.js';
import { LifecycleController } from './lifecycle.controller.js';
import { RemoveAgentService } from './leaving/remove-agent.service.js';
import { RemoveTeamService } from './remove-team.service.js';
import { StopAgentsService } from './stop-agents.service.js';
import { StopsController } from './stops.controller.js';
import { TeamLifecycleController } from './team-lifecycle.controller.js';
import { TransferAgentService } from './leaving/transfer-agent.service.js';
import { TransferBlockersQuery } from './leaving/transfer-blockers.query.js';

/** What ends or moves an agent, or ends a team, with everything that hangs on it at once. */
@Module({
  imports: [AgentsModule, CapabilitiesModule, HitlModule, OrganizationsModule, TasksModule, TeamsModule],
  controllers: [LifecycleController, StopsController, TeamLifecycleController],
  providers: [EndWorkService, RemoveAgentService, RemoveTeamService, StopAgentsService, TransferAgentService, TransferBlockersQuery],
})
export class LifecycleModule {}
