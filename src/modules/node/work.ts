import { NODE_FRESH_SECONDS } from '../agents/node-presence.store.js';
import type { NamedStatement } from '../../platform/database/statements/named-statement.js';

/**
 * `queued` → `leased` → `started` → `answered`; what nobody has started may be `withdrawn`.
 * The row of a lease that has run out stays `leased`: another node may take it.
 */
export type WorkStatus = 'queued' | 'leased' | 'started' | 'answered' | 'withdrawn';

/** The beginning of an execution that a node is to do. */
export interface WorkKey {
  readonly organizationId: string;
  readonly executionId: string;
  /** Of the execution's beginning. */
  readonly executionFence: number;
}

export interface NewWork extends WorkKey {
  readonly agentId: string;
  readonly seconds: number;
  /** Whether a fallback takes over what is withdrawn. */
  readonly yields: boolean;
}

/** The row of a work. */
export interface Work extends WorkKey {
  readonly agentId: string;
  readonly status: WorkStatus;
  /** Number of the newest lease. */
  readonly fence: number;
  readonly yields: boolean;
  readonly deadline: Date;
  /** When the newest lease was started; a later beginning keeps it until somebody leases that. */
  readonly startedAt: Date | null;
  readonly answer: string | null;
  readonly isLate: boolean;
}

export interface Lease {
  readonly executionId: string;
  readonly capability: string;
  readonly fence: number;
  readonly deadline: Date;
  readonly leaseUntil: Date;
}

/** What is leased and not started within this time can be leased again. */
export const LEASE_SECONDS = 30;
/**
 * In one statement, by one clock: an agent without a fresh node has nothing queued for it. A later beginning takes the row
 * over, unless the node of the one before has answered meanwhile.
 */
export const QUEUE: NamedStatement = {
  name: 'node-queue-3',
  text: `insert into node_work as w (organization_id, execution_id, agent_id, status, execution_fence, yields, deadline, ended_at)
    select i.organization_id, i.execution_id, i.agent_id, case when a.id is null then 'withdrawn' else 'queued' end, i.execution_fence,
      i.yields, clock_timestamp() + make_interval(secs => i.seconds), case when a.id is null then clock_timestamp() end
    from unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::boolean[], $6::double precision[])
      as i(organization_id, execution_id, agent_id, execution_fence, yields, seconds)
    left join lateral (select id from agents where organization_id = i.organization_id and id = i.agent_id
      and node_last_seen > clock_timestamp() - make_interval(secs => ${NODE_FRESH_SECONDS}) limit 1) a on true
    on conflict (organization_id, execution_id) do update
    set status = excluded.status, execution_fence = excluded.execution_fence, yields = excluded.yields, deadline = excluded.deadline,
      ended_at = excluded.ended_at, queued_at = clock_timestamp(), lease_until = null, epoch = null
    where w.execution_fence < excluded.execution_fence and w.status <> 'answered'
    returning organization_id as "organizationId", execution_id as "executionId", status`,
};

/** Of the row, which is `w`. */
export const WORK_COLUMNS = `w.organization_id as "organizationId", w.execution_id as "executionId", w.execution_fence as "executionFence",
  w.agent_id as "agentId", w.status, w.fence, w.yields, w.deadline, w.started_at as "startedAt", w.answer, w.is_late as "isLate"`;
