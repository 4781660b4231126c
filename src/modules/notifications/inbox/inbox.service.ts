import { Injectable } from '@nestjs/common';
import { recordsNothing } from '../../../platform/auth/access/call-context.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import type { PageRequest } from '../../../platform/http/fields/pagination.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { Waiters } from '../../../platform/wake/waiters.js';
import { DecisionLinksService } from '../decisions/decision-links.js';
import { type InboxListQuery, type InboxReply, presentNotification, type ReadReply } from './inbox.dto.js';
import { InboxQuery } from './inbox.query.js';
import { inboxTopic, NotificationStore } from './notification.store.js';

/** A person's notifications: listed, waited for, and marked as read. */
@Injectable()
export class InboxService {
  constructor(
    private readonly inbox: InboxQuery,
    private readonly store: NotificationStore,
    private readonly links: DecisionLinksService,
    private readonly work: UnitOfWork,
    private readonly waiters: Waiters,
  ) {}

  list({ unread, wait = 0 }: InboxListQuery, page: PageRequest, caller: Caller): Promise<InboxReply> {
    const { scope, actorId } = caller;
    const read = async (): Promise<InboxReply> => {
      const [{ rows, total, nextCursor }, count] = await Promise.all([
        this.inbox.list(scope, actorId, unread, page), this.inbox.countUnread(scope, actorId),
      ]);
      const notifications = rows.map((row) =>
        presentNotification(row, row.hitlRequestId === null ? undefined : this.links.of(row.hitlRequestId).approve));
      return { notifications, total, unread: count, ...(nextCursor ? { nextCursor } : {}) };
    };
    return this.waiters.until(inboxTopic(actorId), caller, wait, read, (seen) => seen.unread > 0);
  }

  /** @throws Problem NOT_FOUND for one that is another's, or is not there */
  async markRead(id: string, { actorId }: Caller): Promise<ReadReply> {
    recordsNothing();
    const readAt = await this.work.run({ chains: [] }, (tx) => this.store.markRead(tx, actorId, id));
    if (!readAt) throw new Problem('NOT_FOUND', 'There is no such notification.');
    return { id, readAt: readAt.toISOString() };
  }
}
