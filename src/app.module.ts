import { type DynamicModule, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { AgentsModule } from './modules/agents/agents.module.js';
import { AuditRoutesModule } from './modules/audit/audit-routes.module.js';
import { AuditModule } from './modules/audit/audit.module.js';
import { CapabilitiesModule } from './modules/capabilities/capabilities.module.js';
import { CommercialModule } from './modules/commercial/commercial.module.js';
import { ExecutionsModule } from './modules/executions/executions.module.js';
import { GateModule } from './modules/gate/gate.module.js';
import { HitlModule } from './modules/hitl/hitl.module.js';
import { LifecycleModule } from './modules/lifecycle/lifecycle.module.js';
import { LlmModule } from './modules/llm/llm.module.js';
import { NodeModule } from './modules/node/node.module.js';
import { NotificationsModule } from './modules/notifications/notifications.module.js';
import { OrganizationsModule } from './modules/organizations/organizations.module.js';
import { PrivacyModule } from './modules/privacy/privacy.module.js';
import { RoutingModule } from './modules/routing/routing.module.js';
import { SignInModule } from './modules/sign-in/sign-in.module.js';
import { TasksModule } from './modules/tasks/tasks.module.js';
import { TeamsModule } from './modules/teams/teams.module.js';
import type { CompleteConfig } from './platform/config/config.js';
import { PlatformModule } from './platform/platform.module.js';

@Module({})
export class AppModule {
  static forRoot(config: CompleteConfig, logger: Logger): DynamicModule {
    return {
      module: AppModule,
      imports: [
        PlatformModule.forRoot(config, logger),
        // The gate's routes come first: Express looks through them in this order, and most calls are the gate's.
        GateModule, OrganizationsModule, TeamsModule, CapabilitiesModule, AgentsModule, ExecutionsModule, HitlModule, LifecycleModule,
        AuditModule, PrivacyModule, AuditRoutesModule, SignInModule, CommercialModule, NotificationsModule,
        NodeModule, LlmModule, RoutingModule, TasksModule,
      ],
    };
  }
}
