import { INBOX_EVENTS, type InboxEvent, type Priority } from '../../../domain/notifications/events.js';
import type { NotificationSubject } from '../../../platform/outbox/effects.js';
import type { OutboxRow } from '../../../platform/outbox/outbox-row.js';

/** What has waited longer goes to the inbox only: elsewhere it would come as news. */
const FRESH_MS = 24 * 3_600_000;

/** An event as the outbox holds it. */
export interface RecordedEvent extends Pick<NotificationSubject, 'hitlRequestId' | 'executionId' | 'channel' | 'by' | 'traceparent'> {
  /** The outbox row: the same however often the event is recorded. */
  readonly id: string;
  readonly organizationId: string;
  readonly event: InboxEvent;
  readonly priority: Priority;
  readonly isBreakGlass: boolean;
  readonly occurredAt: Date;
  readonly isFresh: boolean;
}

/** @returns undefined for a row of another build's making, which nobody can be notified of */
export function readEvent({ id, organizationId, payload, createdAt }: OutboxRow): RecordedEvent | undefined {
  const { event, priority, breakGlass, ...rest } = payload as NotificationSubject & { event?: string };
  const { hitlRequestId, executionId, channel, by, traceparent } = rest;
  const known = INBOX_EVENTS.find((one) => one === event);
  const subjects = [hitlRequestId, executionId, channel].filter((one) => one !== undefined);
  if (known === undefined || subjects.length !== 1) return undefined;
  return {
    id, organizationId, event: known, priority: priority ?? 'normal', isBreakGlass: breakGlass === true, occurredAt: createdAt,
    isFresh: Date.now() - createdAt.getTime() < FRESH_MS,
    ...(hitlRequestId === undefined ? {} : { hitlRequestId }), ...(executionId === undefined ? {} : { executionId }),
    ...(channel === undefined ? {} : { channel }), ...(by === undefined ? {} : { by }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}
