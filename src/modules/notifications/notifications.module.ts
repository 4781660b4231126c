import { Module } from '@nestjs/common';
import { HitlModule } from '../hitl/hitl.module.js';
import { DecisionLinksService } from './decisions/decision-links.js';
import { DeliverService } from './deliveries/deliver.service.js';
import { DeliveriesController } from './deliveries/deliveries.controller.js';
import { DeliveriesQuery } from './deliveries/deliveries.query.js';
import { DeliveriesReadiness } from './deliveries/deliveries.readiness.js';
import { DeliverySignal } from './deliveries/delivery-signal.js';
import { DeliveryStore } from './deliveries/delivery.store.js';
import { DeliveryWorker } from './deliveries/delivery-worker.service.js';
import { MessagesQuery } from './deliveries/messages.query.js';
import { Receivers } from './deliveries/receivers.js';
import { RetryDeliveryService } from './deliveries/retry-delivery.service.js';
import { InboxController } from './inbox/inbox.controller.js';
import { InboxQuery } from './inbox/inbox.query.js';
import { InboxService } from './inbox/inbox.service.js';
import { NotificationStore } from './inbox/notification.store.js';
import { PeopleQuery } from './recording/people.query.js';
import { RecipientsService } from './recording/recipients.service.js';
import { NotificationStores, RecordNotificationsHandler } from './recording/record-notifications.handler.js';
import { SubjectsQuery } from './recording/subjects.query.js';

/** People and other systems learn of requests and executions, and people decide from where they are. */
@Module({
  imports: [HitlModule],
  // Before ':id/read' stand the routes with a word in its place.
  controllers: [DeliveriesController, InboxController],
  providers: [
    DecisionLinksService, DeliverService, DeliveriesQuery, DeliveriesReadiness, DeliverySignal, DeliveryStore, DeliveryWorker, InboxQuery,
    InboxService, MessagesQuery, NotificationStore, NotificationStores, PeopleQuery, Receivers, RecipientsService,
    RecordNotificationsHandler, RetryDeliveryService, SubjectsQuery,
  ],
})
export class NotificationsModule {}
