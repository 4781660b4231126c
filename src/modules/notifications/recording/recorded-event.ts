import { NOTIFICATION_EVENTS, type NotificationEvent, type Priority } from '../../../domain/notifications/events.js';
import type { NotificationSubject } from '../../../platform/outbox/effects.js';
import type { OutboxRow } from '../../../platform/outbox/outbox-row.js';

/** What has waited longer goes to the inbox only: elsewhere it would come as news. */
const FRESH_MS = 24 * 3_600_000;

/** An event as the outbox holds it. */
export interface RecordedEvent extends Pick<NotificationSubject, 'hitlRequestId' | 'executionId' | 'by' | 'traceparent'> {
  /** The outbox row: the same however often the event is recorded. */
  readonly id: string;
  readonly organizationId: string;
  readonly event: NotificationEvent;
  readonly priority: Priority;
  readonly isBreakGlass: boolean;
  readonly occurredAt: Date;
  readonly isFresh: boolean;
}

/** @returns undefined for a row of another build's making, which nobody can be notified of */
export function readEvent({ id, organizationId, payload, createdAt }: OutboxRow): RecordedEvent | undefined {
  const { event, hitlRequestId, executionId, priority, breakGlass, by, traceparent } = payload as NotificationSubject & { event?: string };
  const known = NOTIFICATION_EVENTS.find((one) => one === event);
  if (known === undefined || (hitlRequestId === undefined) === (executionId === undefined)) return undefined;
  return {
    id, organizationId, event: known, priority: priority ?? 'normal', isBreakGlass: breakGlass === true, occurredAt: createdAt,
    isFresh: Date.now() - createdAt.getTime() < FRESH_MS,
    ...(hitlRequestId === undefined ? {} : { hitlRequestId }), ...(executionId === undefined ? {} : { executionId }),
    ...(by === undefined ? {} : { by }), ...(traceparent === undefined ? {} : { traceparent }),
  };
}
