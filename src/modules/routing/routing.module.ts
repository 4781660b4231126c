import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { CandidatesQuery } from './candidates.query.js';
import { RoutingPersonalData } from './personal-data.store.js';
import { ResolveAgentService } from './resolve-agent.service.js';
import { RoutingDecisionStore } from './routing-decision.store.js';
import { RoutingController } from './routing.controller.js';
import { SuccessRates } from './success-rates.js';

/** Finds the agent for a task, and keeps the routing log. */
@Module({
  imports: [OrganizationsModule],
  controllers: [RoutingController],
  providers: [ResolveAgentService, CandidatesQuery, SuccessRates, RoutingDecisionStore, RoutingPersonalData],
})
export class RoutingModule {}
