import { Injectable } from '@nestjs/common';
import type { AgentPrincipal } from '../../platform/auth/access/principal.js';
import { GatheredReads } from '../../platform/database/batching/gathered-reads.js';
import { Statements } from '../../platform/database/statements/statements.js';
import { textArray } from '../../platform/database/statements/text-array.js';
import type { ExecutionStatus } from '../executions/execution.entity.js';
import type { WorkKey, WorkStatus } from './work.js';

/** A work and its execution at one moment. */
export interface SeenWork {
  readonly status: WorkStatus;
  readonly executionFence: number;
  readonly execution: ExecutionStatus;
  /** The beginning that the execution is at. */
  readonly beginning: number;
}

/** How far back a heartbeat's answer names work that is not wanted any more, in minutes behind its deadline; and how much of it. */
const NAMED_MINUTES = 10;
const NAMED_MAX = 100;

const SEEN = `
  select i.n, w.status, w.execution_fence as "executionFence", e.status as execution, e.fence as beginning
  from unnest($1::text[], $2::text[]) with ordinality as i(organization_id, execution_id, n)
  cross join lateral (select * from node_work where organization_id = i.organization_id and execution_id = i.execution_id limit 1) w
  cross join lateral (select * from executions where organization_id = i.organization_id and id = i.execution_id limit 1) e`;

const CANCELLED = `select w.execution_id as id from node_work w
  join executions e on e.organization_id = w.organization_id and e.id = w.execution_id
  where w.organization_id = $1 and w.agent_id = $2 and w.deadline > clock_timestamp() - make_interval(mins => ${NAMED_MINUTES})
    and w.fence > 0 and (w.status = 'withdrawn' or w.status in ('leased', 'started') and e.status <> 'running')
  order by w.deadline desc, w.execution_id limit ${NAMED_MAX}`;

@Injectable()
export class NodeWorkQuery {
  private readonly seen: GatheredReads<Pick<WorkKey, 'organizationId' | 'executionId'>, SeenWork>;

  constructor(private readonly statements: Statements) {
    this.seen = new GatheredReads(statements, SEEN, (keys) => [
      textArray(keys.map(({ organizationId }) => organizationId)), textArray(keys.map(({ executionId }) => executionId)),
    ]);
  }

  find(key: Pick<WorkKey, 'organizationId' | 'executionId'>): Promise<SeenWork | undefined> {
    return this.seen.read(key);
  }

  /** Executions whose work a node of the agent had taken, and that do not want it any more: newest first. */
  async cancelled({ organizationId, agentId }: AgentPrincipal): Promise<string[]> {
    return (await this.statements.byKey<{ id: string }>(CANCELLED, [organizationId, agentId])).map(({ id }) => id);
  }
}
