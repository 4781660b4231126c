import { DeliverService } from './deliver.service.js';
import { DeliveriesController } from './deliveries.controller.js';
import { DeliveriesQuery } from './deliveries.query.js';
import { DeliveriesReadiness } from './deliveries.readiness.js';
import { DeliverySignal } from './delivery-signal.js';
import { DeliveryStore } from './delivery.store.js';
import { DeliveryWorker } from './delivery-worker.service.js';
import { MessagesQuery } from './messages.query.js';
import { Receivers } from './receivers.js';
import { RetryDeliveryService } from './retry-delivery.service.js';

/** What brings messages to their receivers. */
export const DELIVERY_PROVIDERS = [
  DeliverService, DeliveriesQuery, DeliveriesReadiness, DeliverySignal, DeliveryStore, DeliveryWorker, MessagesQuery, Receivers,
  RetryDeliveryService,
];
export const DELIVERY_CONTROLLERS = [DeliveriesController];
