import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { AuthorityModule } from '../authority/authority.module.js';
import { CapabilitiesModule } from '../capabilities/capabilities.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { CandidatesQuery } from './candidates.query.js';
import { DelegateTaskService } from './delegate-task.service.js';
import { DelegationParties } from './delegation-parties.service.js';
import { OldDecisionsStore } from './old-decisions.store.js';
import { RoutingPersonalData } from './personal-data.store.js';
import { ResolveAgentService } from './resolve-agent.service.js';
import { RoutingDecisionStore } from './routing-decision.store.js';
import { RoutingController } from './routing.controller.js';
import { SuccessRates } from './success-rates.query.js';

/** Finds the agent for a task, gives it the task, and keeps the routing log. */
@Module({
  imports: [AgentsModule, AuthorityModule, CapabilitiesModule, OrganizationsModule, TasksModule],
  controllers: [RoutingController],
  providers: [DelegateTaskService, DelegationParties, ResolveAgentService, CandidatesQuery, SuccessRates, RoutingDecisionStore,
    OldDecisionsStore, RoutingPersonalData],
})
export class RoutingModule {}
