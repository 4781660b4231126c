import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CapabilitiesModule } from '../capabilities/capabilities.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { TeamsModule } from '../teams/teams.module.js';
import { AgentAffiliation } from './agent-affiliation.js';
import { AgentCredentialSource } from './tokens/agent-credential.source.js';
import { AgentTokens } from './tokens/agent-tokens.js';
import { AgentEntity } from './agent.entity.js';
import { AgentStore } from './agent.store.js';
import { AgentsController } from './agents.controller.js';
import { AgentsQuery } from './agents.query.js';
import { ChangeAgentService } from './change-agent.service.js';
import { GrantCapabilityService } from './grants/grant-capability.service.js';
import { GrantToService } from './grants/grant-to.service.js';
import { GrantsController } from './grants/grants.controller.js';
import { GrantsQuery } from './grants/grants.query.js';
import { PossibleApprovers } from './grants/possible-approvers.js';
import { ReachableQuorum } from './grants/reachable-quorum.js';
import { HighRiskRetention } from './high-risk-retention.js';
import { AgentKeyStore } from './keys/agent-key.store.js';
import { AgentKeysController } from './keys/agent-keys.controller.js';
import { AgentKeysQuery } from './keys/agent-keys.query.js';
import { AgentKeysService } from './keys/agent-keys.service.js';
import { VerifiedAgentKeys } from './keys/verified-agent-keys.js';
import { IssueTokenService } from './tokens/issue-token.service.js';
import { LeakedSecrets } from './tokens/leaked-secrets.service.js';
import { NodesController } from './tokens/nodes.controller.js';
import { AgentsPersonalData } from './personal-data.store.js';
import { RegisterAgentService } from './register-agent.service.js';
import { SetupNodeService } from './tokens/setup-node.service.js';
import { SetupTokenStore } from './tokens/setup-token.store.js';

@Module({
  imports: [TypeOrmModule.forFeature([AgentEntity]), JwtModule.register({}), CapabilitiesModule, OrganizationsModule, TeamsModule],
  controllers: [AgentsController, AgentKeysController, GrantsController, NodesController],
  providers: [
    AgentTokens, AgentCredentialSource, AgentStore, AgentAffiliation, AgentsQuery, GrantsQuery, RegisterAgentService, ChangeAgentService,
    GrantCapabilityService, GrantToService, HighRiskRetention, IssueTokenService, SetupNodeService, SetupTokenStore, AgentsPersonalData,
    AgentKeyStore, AgentKeysQuery, AgentKeysService, VerifiedAgentKeys, PossibleApprovers, ReachableQuorum, LeakedSecrets,
  ],
  exports: [AgentStore, AgentsQuery, GrantCapabilityService, PossibleApprovers],
})
export class AgentsModule {}
