import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';

export interface StatsFilter {
  agentId?: string;
  capability?: string;
  organizationId?: string;
  /** Both inclusive; of the requests' creation. */
  from?: Date;
  to?: Date;
}

/** What people decided of some requests, and how long it took them. Null where nobody decided anything. */
export interface DecidedByPeople {
  approved: number;
  rejected: number;
  averageSeconds: number | null;
  p50Seconds: number | null;
  p95Seconds: number | null;
}

export interface HitlStats {
  byStatus: { status: string; count: number }[];
  all: DecidedByPeople;
  byCapability: ({ capability: string; total: number } & DecidedByPeople)[];
  byReviewer: ({ reviewerId: string } & DecidedByPeople)[];
}

/** Only the busiest are listed: a page of figures, not an export. */
const LISTED = 100;

// By the window, the system or a cancellation nobody decided anything.
const BY_A_PERSON = `q.decision_by = 'human' and q.decision_outcome in ('approved', 'rejected')`;
const SECONDS = `extract(epoch from q.decided_at - q.created_at)`;
const DECIDED = `
  count(*) filter (where ${BY_A_PERSON} and q.decision_outcome = 'approved')::integer as approved,
  count(*) filter (where ${BY_A_PERSON} and q.decision_outcome = 'rejected')::integer as rejected,
  (avg(${SECONDS}) filter (where ${BY_A_PERSON}))::double precision as "averageSeconds",
  percentile_cont(0.5) within group (order by ${SECONDS}) filter (where ${BY_A_PERSON}) as "p50Seconds",
  percentile_cont(0.95) within group (order by ${SECONDS}) filter (where ${BY_A_PERSON}) as "p95Seconds"`;

/** How requests end, and how fast people decide them. */
@Injectable()
export class HitlStatsQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async read(scope: Scope, filter: StatsFilter): Promise<HitlStats> {
    const within = scopeCondition(scope, { organization: 'q.organization_id', agent: 'q.agent_id' }, 6);
    const where = `($1::text is null or q.agent_id = $1) and ($2::text is null or q.capability = $2)
      and ($3::timestamptz is null or q.created_at >= $3) and ($4::timestamptz is null or q.created_at <= $4)
      and ($5::text is null or q.organization_id = $5) and ${within.sql}`;
    const parameters = [
      filter.agentId ?? null, filter.capability ?? null, filter.from ?? null, filter.to ?? null, filter.organizationId ?? null,
      ...within.parameters,
    ];
    // One after the other: figures for a page may take a connection, not four of those that calls want.
    const byStatus = await this.dataSource.query<HitlStats['byStatus']>(
      `select q.status, count(*)::integer as count from hitl_requests q where ${where} group by q.status order by q.status`,
      parameters,
    );
    const all = await this.dataSource.query<[DecidedByPeople]>(`select ${DECIDED} from hitl_requests q where ${where}`, parameters);
    const byCapability = await this.dataSource.query<HitlStats['byCapability']>(
      `select q.capability, count(*)::integer as total, ${DECIDED} from hitl_requests q where ${where}
       group by q.capability order by total desc, q.capability limit ${LISTED}`,
      parameters,
    );
    const byReviewer = await this.dataSource.query<HitlStats['byReviewer']>(
      `select q.decided_by as "reviewerId", ${DECIDED} from hitl_requests q where ${where} and ${BY_A_PERSON}
       group by q.decided_by order by count(*) desc, q.decided_by limit ${LISTED}`,
      parameters,
    );
    return { byStatus, all: all[0], byCapability, byReviewer };
  }
}
