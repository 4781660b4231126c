import { Injectable } from '@nestjs/common';
import { Statements } from '../../platform/database/statements/statements.js';
import type { ExecutionStatus } from '../executions/execution.entity.js';
import type { NodeRef, WorkKey, WorkStatus } from './node-work.store.js';

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

const SEEN = `select w.status, w.execution_fence as "executionFence", e.status as execution, e.fence as beginning
  from node_work w join executions e on e.organization_id = w.organization_id and e.id = w.execution_id
  where w.organization_id = $1 and w.execution_id = $2`;

const CANCELLED = `select w.execution_id as id from node_work w
  join executions e on e.organization_id = w.organization_id and e.id = w.execution_id
  where w.organization_id = $1 and w.agent_id = $2 and w.deadline > clock_timestamp() - make_interval(mins => ${NAMED_MINUTES})
    and w.fence > 0 and (w.status = 'withdrawn' or w.status in ('leased', 'started') and e.status <> 'running')
  order by w.deadline desc, w.execution_id limit ${NAMED_MAX}`;

@Injectable()
export class NodeWorkQuery {
  constructor(private readonly statements: Statements) {}

  async find({ organizationId, executionId }: Pick<WorkKey, 'organizationId' | 'executionId'>): Promise<SeenWork | undefined> {
    return (await this.statements.byKey<SeenWork>(SEEN, [organizationId, executionId]))[0];
  }

  /** Executions whose work a node of the agent had taken, and that do not want it any more: newest first. */
  async cancelled({ organizationId, agentId }: NodeRef): Promise<string[]> {
    return (await this.statements.byKey<{ id: string }>(CANCELLED, [organizationId, agentId])).map(({ id }) => id);
  }
}
