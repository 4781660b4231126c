import { Injectable, type OnModuleInit } from '@nestjs/common';
import { newId } from '../../../domain/ids.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import type { EffectSetHandler } from '../../../platform/outbox/effect-handler.js';
import type { OutboxRow } from '../../../platform/outbox/outbox-row.js';
import { OutboxWorker } from '../../../platform/outbox/outbox.worker.js';
import { Waiters } from '../../../platform/wake/waiters.js';
import { Channels, type OrganizationChannels } from '../channels/channels.js';
import type { NewDelivery } from '../deliveries/delivery.store.js';
import { inboxTopic, type NewNotification } from '../inbox/notification.store.js';
import { NotificationStores } from './notification-stores.js';
import { readEvent, type RecordedEvent } from './recorded-event.js';
import { type RecipientsOf, RecipientsService } from './recipients.service.js';

/** From events to what is to be done about them: rows of inboxes, and deliveries. Recording an event again adds nothing. */
@Injectable()
export class RecordNotificationsHandler implements EffectSetHandler, OnModuleInit {
  readonly kind = 'notification.send';
  readonly setSize = 100;

  constructor(
    private readonly worker: OutboxWorker,
    private readonly work: UnitOfWork,
    private readonly channels: Channels,
    private readonly recipients: RecipientsService,
    private readonly stores: NotificationStores,
    private readonly waiters: Waiters,
  ) {}

  onModuleInit(): void {
    this.worker.registerSet(this);
  }

  async handleSet(rows: readonly OutboxRow[]): Promise<void> {
    const events = rows.flatMap((row) => readEvent(row) ?? []);
    if (events.length === 0) return;
    const channels = await this.channels.of([...new Set(events.map(({ organizationId }) => organizationId))]);
    await this.work.run({ chains: [] }, async (tx) => this.record(tx, events, channels));
  }

  private async record(tx: Tx, events: readonly RecordedEvent[], channels: ReadonlyMap<string, OrganizationChannels>): Promise<void> {
    const recipientsOf = await this.recipients.read(tx, events, channels);
    const notifications = events.flatMap((event) => notificationsOf(event, channels.get(event.organizationId), recipientsOf));
    const deliveries = events.flatMap((event) => deliveriesOf(event, channels.get(event.organizationId), recipientsOf));
    await this.stores.inbox.add(tx, notifications);
    await this.stores.deliveries.add(tx, deliveries);
    tx.onCommit(() => {
      for (const userId of new Set(notifications.map((one) => one.userId))) this.waiters.wake(inboxTopic(userId));
      if (deliveries.length > 0) this.stores.signal.notify();
    });
  }
}

function subjectOf({ id: eventId, organizationId, priority, hitlRequestId, executionId }: RecordedEvent) {
  return { eventId, organizationId, priority, hitlRequestId: hitlRequestId ?? null, executionId: executionId ?? null };
}

function notificationsOf(event: RecordedEvent, channels: OrganizationChannels | undefined, recipientsOf: RecipientsOf): NewNotification[] {
  const wanted = channels?.inbox.events ?? null;
  if (event.event !== 'channel.switched_off' && wanted !== null && !wanted.includes(event.event)) return [];
  return recipientsOf(event, 'in_app').map((userId) => ({
    ...subjectOf(event), event: event.event, channel: event.channel ?? null, id: newId('ntf'), userId, createdAt: event.occurredAt,
  }));
}

/** Mail goes to people one by one, every other channel has one receiver. */
function deliveriesOf(recorded: RecordedEvent, channels: OrganizationChannels | undefined, recipientsOf: RecipientsOf): NewDelivery[] {
  const { event } = recorded;
  if (!recorded.isFresh || event === 'channel.switched_off') return [];
  const wanted = (channels?.external ?? []).filter(({ enabled, events }) => enabled && (events === null || events.includes(event)));
  return wanted.flatMap(({ channel }) => {
    const targets = channel === 'email' ? recipientsOf(recorded, 'email') : [''];
    return targets.map((target) => ({
      ...subjectOf(recorded), event, id: newId('dlv'), channel, target, traceparent: recorded.traceparent ?? null,
      occurredAt: recorded.occurredAt,
    }));
  });
}
