import { Injectable } from '@nestjs/common';
import type { ExternalChannel, InboxEvent, Priority } from '../../../domain/notifications/events.js';
import { cleanupStep, Janitor } from '../../../platform/database/janitor.service.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';

export interface NewNotification {
  readonly organizationId: string;
  readonly id: string;
  readonly userId: string;
  readonly eventId: string;
  readonly event: InboxEvent;
  readonly priority: Priority;
  readonly hitlRequestId: string | null;
  readonly executionId: string | null;
  readonly channel: ExternalChannel | null;
  readonly createdAt: Date;
}

/** Read ones stay to be looked at for so long; unread ones as long as nobody reads them. */
const KEPT_AFTER_READING = '90 days';

/** What a person's inbox wakes by. */
export const inboxTopic = (userId: string): string => `inbox of ${userId}`;

@Injectable()
export class NotificationStore {
  constructor(janitor: Janitor) {
    janitor.register(cleanupStep(`delete from notifications where (organization_id, id) in
      (select organization_id, id from notifications where read_at < clock_timestamp() - interval '${KEPT_AFTER_READING}' limit $1)`));
  }

  async add(tx: Tx, notifications: readonly NewNotification[]): Promise<void> {
    if (notifications.length === 0) return;
    await tx.query(
      `insert into notifications (organization_id, id, user_id, event_id, event, priority, hitl_request_id, execution_id, channel,
         created_at)
       select n."organizationId", n.id, n."userId", n."eventId", n.event, n.priority, n."hitlRequestId", n."executionId", n.channel,
         n."createdAt"
       from json_to_recordset($1) as n("organizationId" text, id text, "userId" text, "eventId" bigint, event text, priority text,
         "hitlRequestId" text, "executionId" text, channel text, "createdAt" timestamptz)
       on conflict do nothing`, [JSON.stringify(notifications)],
    );
  }

  /** @returns when it was read; undefined where the person has no such notification */
  async markRead(tx: Tx, userId: string, id: string): Promise<Date | undefined> {
    const [row] = await tx.query<{ readAt: Date }>(
      `update notifications set read_at = coalesce(read_at, clock_timestamp()) where user_id = $1 and id = $2
         and organization_id in (select id from organizations) returning read_at as "readAt"`, [userId, id],
    );
    return row?.readAt;
  }
}
