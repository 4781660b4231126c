import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { ExternalChannel, InboxEvent, Priority } from '../../../domain/notifications/events.js';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';
import { pageOf } from '../../../platform/database/statements/paged.js';
import type { Page, PageRequest } from '../../../platform/http/fields/pagination.js';

export interface NotificationRow {
  readonly id: string;
  readonly organizationId: string;
  readonly event: InboxEvent;
  readonly priority: Priority;
  readonly hitlRequestId: string | null;
  readonly executionId: string | null;
  readonly channel: ExternalChannel | null;
  readonly agentId: string | null;
  readonly agentName: string | null;
  readonly capability: string | null;
  /** Of the request or execution, as it is now. */
  readonly status: string | null;
  readonly expiresAt: Date | null;
  readonly createdAt: Date;
  readonly readAt: Date | null;
}

const COLUMNS = `n.id, n.organization_id as "organizationId", n.event, n.priority, n.hitl_request_id as "hitlRequestId",
  n.execution_id as "executionId", n.channel, coalesce(q.agent_id, e.agent_id) as "agentId", coalesce(q.agent_name, a.name) as "agentName",
  coalesce(q.capability, e.capability) as capability, coalesce(q.status, e.status) as status, q.expires_at as "expiresAt",
  n.created_at as "createdAt", n.read_at as "readAt"`;

const ABOUT = `
  join notifications n on n.organization_id = page.organization_id and n.id = page.id
  left join hitl_requests q on q.organization_id = n.organization_id and q.id = n.hitl_request_id
  left join executions e on e.organization_id = n.organization_id and e.id = n.execution_id
  left join agents a on a.organization_id = e.organization_id and a.id = e.agent_id`;

@Injectable()
export class InboxQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** A person's notifications, newest first. @param unread only those, or only the others, where it is said */
  async list(scope: Scope, userId: string, unread: boolean | undefined, page: PageRequest): Promise<Page<NotificationRow>> {
    const within = scopeCondition(scope, { organization: 'n.organization_id' }, 3);
    return pageOf<NotificationRow>(this.dataSource, {
      columns: COLUMNS, from: 'notifications n', id: 'n.id',
      where: `n.user_id = $1 and ($2::boolean is null or (n.read_at is null) = $2) and ${within.sql}`,
      parameters: [userId, unread ?? null, ...within.parameters],
      wide: { keys: 'n.organization_id, n.id', join: ABOUT },
    }, page);
  }

  async countUnread(scope: Scope, userId: string): Promise<number> {
    const within = scopeCondition(scope, { organization: 'n.organization_id' }, 2);
    const [row] = await this.dataSource.query<[{ unread: number }]>(
      `select count(*)::integer as unread from notifications n where n.user_id = $1 and n.read_at is null and ${within.sql}`,
      [userId, ...within.parameters],
    );
    return row.unread;
  }
}
