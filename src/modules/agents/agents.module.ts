import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CapabilitiesModule } from '../capabilities/capabilities.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { TeamsModule } from '../teams/teams.module.js';
import { AgentTies } from './agent-ties.js';
import { AgentTokenSource } from './agent-token.source.js';
import { AgentTokens } from './agent-tokens.js';
import { AgentEntity } from './agent.entity.js';
import { AgentStore } from './agent.store.js';
import { AgentsController } from './agents.controller.js';
import { AgentsQuery } from './agents.query.js';
import { ChangeAgentService } from './change-agent.service.js';
import { GrantCapabilityService } from './grant-capability.service.js';
import { GrantToService } from './grant-to.service.js';
import { GrantsController } from './grants.controller.js';
import { GrantsQuery } from './grants.query.js';
import { HighRiskRetention } from './high-risk-retention.js';
import { IssueTokenService } from './issue-token.service.js';
import { NodesController } from './nodes.controller.js';
import { AgentsPersonalData } from './personal-data.store.js';
import { RegisterAgentService } from './register-agent.service.js';
import { SetupNodeService } from './setup-node.service.js';
import { SetupTokenStore } from './setup-token.store.js';

@Module({
  imports: [TypeOrmModule.forFeature([AgentEntity]), JwtModule.register({}), CapabilitiesModule, OrganizationsModule, TeamsModule],
  controllers: [AgentsController, GrantsController, NodesController],
  providers: [
    AgentTokens, AgentTokenSource, AgentStore, AgentTies, AgentsQuery, GrantsQuery, RegisterAgentService, ChangeAgentService,
    GrantCapabilityService, GrantToService, HighRiskRetention, IssueTokenService, SetupNodeService, SetupTokenStore, AgentsPersonalData,
  ],
  exports: [AgentStore, AgentsQuery, GrantCapabilityService],
})
export class AgentsModule {}
