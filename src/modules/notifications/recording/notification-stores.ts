import { Injectable } from '@nestjs/common';
import { DeliverySignal } from '../deliveries/delivery-signal.js';
import { DeliveryStore } from '../deliveries/delivery.store.js';
import { NotificationStore } from '../inbox/notification.store.js';

/** What recorded events become: rows of inboxes, deliveries, and word to whoever delivers them. */
@Injectable()
export class NotificationStores {
  constructor(
    readonly inbox: NotificationStore,
    readonly deliveries: DeliveryStore,
    readonly signal: DeliverySignal,
  ) {}
}
