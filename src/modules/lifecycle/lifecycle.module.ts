import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { CapabilitiesModule } from '../capabilities/capabilities.module.js';
import { HitlModule } from '../hitl/hitl.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { LifecycleController } from './lifecycle.controller.js';
import { RemoveAgentService } from './remove-agent.service.js';
import { StopAgentsService } from './stop-agents.service.js';
import { StopsController } from './stops.controller.js';

/** What concerns an agent and everything that hangs on it at once. */
@Module({
  imports: [AgentsModule, CapabilitiesModule, HitlModule, OrganizationsModule],
  controllers: [LifecycleController, StopsController],
  providers: [RemoveAgentService, StopAgentsService],
})
export class LifecycleModule {}
