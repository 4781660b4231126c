import { Module } from '@nestjs/common';
import { HitlModule } from '../hitl/hitl.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { SignInPortsModule } from '../sign-in/ports/ports.module.js';
import { SessionsModule } from '../sign-in/sessions/sessions.module.js';
import { TeamsModule } from '../teams/teams.module.js';
import { CHANNEL_CONTROLLERS, CHANNEL_PROVIDERS } from './channels/channel-parts.js';
import { CHAT_CONTROLLERS, CHAT_PROVIDERS } from './chat/chat-parts.js';
import { DECISION_CONTROLLERS, DECISION_PROVIDERS } from './decisions/decision-parts.js';
import { NotificationsPersonalData } from './personal-data.store.js';

/** People and other systems learn of requests and executions, and people decide from where they are. */
@Module({
  imports: [HitlModule, OrganizationsModule, SessionsModule, SignInPortsModule, TeamsModule],
  controllers: [...CHANNEL_CONTROLLERS, ...CHAT_CONTROLLERS, ...DECISION_CONTROLLERS],
  providers: [...CHANNEL_PROVIDERS, ...CHAT_PROVIDERS, ...DECISION_PROVIDERS, NotificationsPersonalData],
})
export class NotificationsModule {}
