import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { CapabilitiesModule } from '../capabilities/capabilities.module.js';
import { HitlModule } from '../hitl/hitl.module.js';
import { LifecycleController } from './lifecycle.controller.js';
import { RemoveAgentService } from './remove-agent.service.js';

/** What concerns an agent and everything that hangs on it at once. */
@Module({
  imports: [AgentsModule, CapabilitiesModule, HitlModule],
  controllers: [LifecycleController],
  providers: [RemoveAgentService],
})
export class LifecycleModule {}
