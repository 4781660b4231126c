import { Module } from '@nestjs/common';
import { HitlModule } from '../hitl/hitl.module.js';
import { SignInPortsModule } from '../sign-in/ports/ports.module.js';
import { SessionsModule } from '../sign-in/sessions/sessions.module.js';
import { Channels } from './channels/channels.js';
import { ChannelsOfEnvironment } from './channels/of-environment.js';
import { CHAT_PARTS } from './chat/chat-parts.js';
import { DECISION_PARTS } from './decisions/decision-parts.js';

/** People and other systems learn of requests and executions, and people decide from where they are. */
@Module({
  imports: [HitlModule, SignInPortsModule, SessionsModule],
  controllers: [...DECISION_PARTS.controllers, ...CHAT_PARTS.controllers],
  providers: [...DECISION_PARTS.providers, ...CHAT_PARTS.providers, { provide: Channels, useClass: ChannelsOfEnvironment }],
})
export class NotificationsModule {}
