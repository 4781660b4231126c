import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { ExternalChannel, NotificationEvent, Priority } from '../../../domain/notifications/events.js';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';
import { pageOf } from '../../../platform/database/statements/paged.js';
import type { Page, PageRequest } from '../../../platform/http/fields/pagination.js';

export const DELIVERY_STATES = ['waiting', 'delivered', 'superseded', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface DeliveryRow {
  readonly organizationId: string;
  readonly id: string;
  readonly event: NotificationEvent;
  readonly channel: ExternalChannel;
  readonly target: string;
  readonly priority: Priority;
  readonly hitlRequestId: string | null;
  readonly executionId: string | null;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly availableAt: Date;
  readonly code: string | null;
  readonly occurredAt: Date;
  readonly endedAt: Date | null;
}

export interface DeliveryFilter {
  readonly state?: string;
  readonly channel?: string;
  readonly hitlRequestId?: string;
  readonly organizationId?: string;
}

const COLUMNS = `d.organization_id as "organizationId", d.id, d.event, d.channel, d.target, d.priority,
  d.hitl_request_id as "hitlRequestId", d.execution_id as "executionId", d.state, d.attempts, d.available_at as "availableAt", d.code,
  d.occurred_at as "occurredAt", d.ended_at as "endedAt"`;

@Injectable()
export class DeliveriesQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** Newest first. */
  async list(scope: Scope, filter: DeliveryFilter, page: PageRequest): Promise<Page<DeliveryRow>> {
    const { state, channel, hitlRequestId, organizationId } = filter;
    const within = scopeCondition(scope, { organization: 'd.organization_id' }, 5);
    const where = `($1::text is null or d.state = $1) and ($2::text is null or d.channel = $2)
      and ($3::text is null or d.hitl_request_id = $3) and ($4::text is null or d.organization_id = $4) and ${within.sql}`;
    const parameters = [state ?? null, channel ?? null, hitlRequestId ?? null, organizationId ?? null, ...within.parameters];
    const source = { columns: COLUMNS, from: 'notification_deliveries d', where, parameters, id: 'd.id' };
    return pageOf<DeliveryRow>(this.dataSource, source, page);
  }

  async find(scope: Scope, id: string): Promise<DeliveryRow | undefined> {
    const within = scopeCondition(scope, { organization: 'd.organization_id' }, 2);
    const [row] = await this.dataSource.query<DeliveryRow[]>(
      `select ${COLUMNS} from notification_deliveries d where d.id = $1
         and d.organization_id in (select id from organizations) and ${within.sql}`, [id, ...within.parameters],
    );
    return row;
  }
}
