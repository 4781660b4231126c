import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';
import { Statements } from '../../../platform/database/statements/statements.js';
import { pageOf } from '../../../platform/database/statements/paged.js';
import type { Page, PageRequest } from '../../../platform/http/fields/pagination.js';
import type { ExecutionError, ExecutionStatus } from '../../executions/execution.entity.js';
import type { HitlRequestEntity } from './hitl-request.entity.js';
import { QueueQuery } from '../queue/queue.query.js';
import { REQUEST_COLUMNS } from './request-columns.js';

/** A request with the outcome of its execution. */
export type RequestRow = HitlRequestEntity & {
  /** Approvals of the present version, in their order; null where there are none. */
  votes: { voter: string; at: string; note: string | null }[] | null;
  executionStatus: ExecutionStatus;
  executionRuntime: string;
  executionReason: string | null;
  executionOutput: string | null;
  executionError: ExecutionError | null;
  executionDurationMs: number | null;
};

export interface RequestFilter {
  organizationId?: string;
  status?: string;
  agentId?: string;
  capability?: string;
  level?: number;
  dueBefore?: Date;
  escalatedTo?: string;
  /** Only requests in this person's queue. */
  assignedTo?: string;
}

const COLUMNS = `${REQUEST_COLUMNS},
  (select json_agg(json_build_object('voter', v.voter, 'at', v.voted_at, 'note', v.note) order by v.voted_at, v.voter) from hitl_votes v
   where v.organization_id = q.organization_id and v.request_id = q.id and v.version = q.version) as votes,
  e.status as "executionStatus", e.runtime as "executionRuntime", e.reason as "executionReason", e.output as "executionOutput",
  e.error as "executionError", e.duration_ms as "executionDurationMs"`;

@Injectable()
export class HitlRequestsQuery {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly statements: Statements,
    private readonly queues: QueueQuery,
  ) {}

  async find(scope: Scope, id: string): Promise<RequestRow | undefined> {
    const within = scopeCondition(scope, { organization: 'q.organization_id', agent: 'q.agent_id' }, 2);
    const [row] = await this.statements.byKey<RequestRow>(
      `select ${COLUMNS}
       from hitl_requests q join executions e on e.organization_id = q.organization_id and e.id = q.execution_id
       where q.id = $1 and q.organization_id in (select id from organizations) and ${within.sql}`,
      [id, ...within.parameters],
    );
    return row;
  }

  async list(scope: Scope, filter: RequestFilter, page: PageRequest): Promise<Page<RequestRow>> {
    const within = scopeCondition(scope, { organization: 'q.organization_id', agent: 'q.agent_id' }, 8);
    const parameters: unknown[] = [
      filter.status ?? null, filter.agentId ?? null, filter.capability ?? null, filter.level ?? null, filter.dueBefore ?? null,
      filter.escalatedTo ?? null, filter.organizationId ?? null, ...within.parameters,
    ];
    const { assignedTo } = filter;
    const queue = assignedTo === undefined ? undefined : await this.queues.queueOf(scope, assignedTo, parameters.length + 1);
    if (queue) parameters.push(...queue.parameters);
    return pageOf<RequestRow>(
      this.dataSource,
      {
        columns: COLUMNS,
        from: 'hitl_requests q',
        // Every request has its execution, so count and order do without the join: a queue may be a million long.
        wide: {
          keys: 'q.organization_id, q.id',
          join: `join hitl_requests q on q.organization_id = page.organization_id and q.id = page.id
            join executions e on e.organization_id = q.organization_id and e.id = q.execution_id`,
        },
        where: `($1::text is null or q.status = $1) and ($2::text is null or q.agent_id = $2) and ($3::text is null or q.capability = $3)
          and ($4::integer is null or q.escalation_level = $4) and ($5::timestamptz is null or q.expires_at < $5)
          and ($6::text is null or q.escalated_to = $6)
          and ($7::text is null or q.organization_id = $7) and ${within.sql} and ${queue?.sql ?? 'true'}`,
        parameters,
        id: 'q.id',
      },
      page,
    );
  }
}
