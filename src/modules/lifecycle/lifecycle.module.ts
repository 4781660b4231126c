import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { HitlModule } from '../hitl/hitl.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { LifecycleController } from './lifecycle.controller.js';
import { RemoveAgentService } from './remove-agent.service.js';
import { TransferAgentService } from './transfer-agent.service.js';
import { TransferObstaclesQuery } from './transfer-obstacles.query.js';

/** What concerns an agent and everything that hangs on it at once. */
@Module({
  imports: [AgentsModule, HitlModule, OrganizationsModule],
  controllers: [LifecycleController],
  providers: [RemoveAgentService, TransferAgentService, TransferObstaclesQuery],
})
export class LifecycleModule {}
