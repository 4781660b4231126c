import { Module } from '@nestjs/common';
import { HitlModule } from '../hitl/hitl.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { SignInPortsModule } from '../sign-in/ports/ports.module.js';
import { SessionsModule } from '../sign-in/sessions/sessions.module.js';
import { TeamsModule } from '../teams/teams.module.js';
import { CHANNEL_CONTROLLERS, CHANNEL_PROVIDERS } from './channels/channel-parts.js';
import { CHAT_CONTROLLERS, CHAT_PROVIDERS } from './chat/chat-parts.js';
import { DECISION_CONTROLLERS, DECISION_PROVIDERS } from './decisions/decision-parts.js';
import { DELIVERY_CONTROLLERS, DELIVERY_PROVIDERS } from './deliveries/delivery-parts.js';
import { InboxController } from './inbox/inbox.controller.js';
import { InboxQuery } from './inbox/inbox.query.js';
import { InboxService } from './inbox/inbox.service.js';
import { NotificationStore } from './inbox/notification.store.js';
import { NotificationsPersonalData } from './personal-data.store.js';
import { PeopleQuery } from './recording/people.query.js';
import { RecipientsService } from './recording/recipients.service.js';
import { NotificationStores } from './recording/notification-stores.js';
import { RecordNotificationsHandler } from './recording/record-notifications.handler.js';
import { SubjectsQuery } from './recording/subjects.query.js';

const RECORDING = [PeopleQuery, RecipientsService, RecordNotificationsHandler, NotificationStores, SubjectsQuery];
const INBOX = [InboxQuery, InboxService, NotificationStore];

/** People and other systems learn of requests and executions, and people decide from where they are. */
@Module({
  imports: [HitlModule, OrganizationsModule, SessionsModule, SignInPortsModule, TeamsModule],
  // Routes with a word in the place of an id stand before those with an id.
  controllers: [...CHANNEL_CONTROLLERS, ...DELIVERY_CONTROLLERS, ...CHAT_CONTROLLERS, ...DECISION_CONTROLLERS, InboxController],
  providers: [
    ...CHANNEL_PROVIDERS, ...DELIVERY_PROVIDERS, ...CHAT_PROVIDERS, ...DECISION_PROVIDERS, ...RECORDING, ...INBOX,
    NotificationsPersonalData,
  ],
})
export class NotificationsModule {}
