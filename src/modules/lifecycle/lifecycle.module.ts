import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { CapabilitiesModule } from '../capabilities/capabilities.module.js';
import { HitlModule } from '../hitl/hitl.module.js';
import { TeamsModule } from '../teams/teams.module.js';
import { LifecycleController } from './lifecycle.controller.js';
import { RemoveAgentService } from './remove-agent.service.js';
import { RemoveTeamService } from './remove-team.service.js';
import { TeamLifecycleController } from './team-lifecycle.controller.js';

/** What ends an agent or a team, with everything that hangs on it at once. */
@Module({
  imports: [AgentsModule, CapabilitiesModule, HitlModule, TeamsModule],
  controllers: [LifecycleController, TeamLifecycleController],
  providers: [RemoveAgentService, RemoveTeamService],
})
export class LifecycleModule {}
