import { Injectable } from '@nestjs/common';
import { type Scope, scopeCondition } from '../../platform/auth/access/scope.js';
import { Statements } from '../../platform/database/statements/statements.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { ownTasks } from './own-tasks.js';

/** The key of a task, with the agent whose head orders its changes. */
export interface TaskRef {
  organizationId: string;
  id: string;
  toAgentId: string;
}

/** A task as it is given. */
export interface NewTask extends TaskRef {
  parentId: string | null;
  /** The tasks that it is part of, the first one first. */
  ancestors: string[];
  capability: string;
  /** Canonical text. */
  input: string;
  description: string | null;
  fromAgentId: string | null;
  /** Agents, the first to have it first and the assignee last. */
  chain: string[];
  delegatedBy: string;
  /** The person behind it. */
  initiator: string | null;
  decisionId: string | null;
  createdAt: Date;
}

export interface TaskRow extends NewTask {
  status: 'assigned' | 'taken' | 'cancelled';
  executionId: string | null;
  executionStatus: string | null;
  isWithinEnded: boolean;
  reason: string | null;
  endedAt: Date | null;
}

/** Every column, by the names of the row; the tables are `t`, and `e` for its execution. */
export const TASK_COLUMNS = `t.organization_id as "organizationId", t.id, t.parent_id as "parentId", t.ancestors, t.capability, t.input,
  t.description, t.from_agent_id as "fromAgentId", t.to_agent_id as "toAgentId", t.chain, t.delegated_by as "delegatedBy", t.initiator,
  t.decision_id as "decisionId", t.status, t.execution_id as "executionId", e.status as "executionStatus",
  has_ended_task_v1(t.organization_id, t.ancestors) as "isWithinEnded", t.reason, t.created_at as "createdAt", t.ended_at as "endedAt"`;

@Injectable()
export class TaskStore {
  constructor(private readonly statements: Statements) {}

  /** @throws Problem NOT_FOUND */
  async findRef(scope: Scope, id: string): Promise<TaskRef> {
    const within = ownTasks(scope, 2);
    const [row] = await this.statements.byKey<TaskRef>(
      `select t.organization_id as "organizationId", t.id, t.to_agent_id as "toAgentId" from tasks t
       where t.id = $1 and t.organization_id in (select id from organizations) and ${within.sql}`,
      [id, ...within.parameters],
    );
    if (!row) throw new Problem('NOT_FOUND', 'There is no such task.');
    return row;
  }

  /** Under the head of its agent. @throws Problem NOT_FOUND */
  async read(tx: Tx, { organizationId, id }: Pick<TaskRef, 'organizationId' | 'id'>): Promise<TaskRow> {
    const [row] = await tx.query<TaskRow & Record<string, unknown>>(
      `select ${TASK_COLUMNS} from tasks t left join executions e on e.organization_id = t.organization_id and e.id = t.execution_id
       where t.organization_id = $1 and t.id = $2`, [organizationId, id],
    );
    if (!row) throw new Problem('NOT_FOUND', 'There is no such task.');
    return row;
  }

  insert(tx: Tx, task: NewTask): void {
    tx.queue(
      `insert into tasks (organization_id, id, parent_id, ancestors, capability, input, description, from_agent_id, to_agent_id, chain,
         delegated_by, initiator, decision_id, status, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'assigned', $14)`,
      [
        task.organizationId, task.id, task.parentId, task.ancestors, task.capability, task.input, task.description, task.fromAgentId,
        task.toAgentId, task.chain, task.delegatedBy, task.initiator, task.decisionId, task.createdAt,
      ],
    );
  }

  /**
   * Cancels assigned tasks, whose agents' heads this work has locked.
   *
   * @param reason a code
   * @returns those that it has cancelled: others were taken, or ended before
   */
  async cancel(tx: Tx, organizationId: string, ids: readonly string[], reason: string): Promise<TaskRef[]> {
    return tx.query<TaskRef & Record<string, unknown>>(
      `update tasks set status = 'cancelled', reason = $3, ended_at = clock_timestamp()
       where organization_id = $1 and id = any ($2) and status = 'assigned'
       returning organization_id as "organizationId", id, to_agent_id as "toAgentId"`,
      [organizationId, ids, reason],
    );
  }

  /** The assigned tasks of an agent, whose head this work has locked. */
  async assignedTo(tx: Tx, organizationId: string, agentId: string): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(
      `select id from tasks where organization_id = $1 and to_agent_id = $2 and status = 'assigned' order by id`, [organizationId, agentId],
    );
    return rows.map(({ id }) => id);
  }

  /** Assigned tasks within this one, without locks: whoever ends them locks the heads of their agents first. */
  async assignedWithin(scope: Scope, { organizationId, id }: Pick<TaskRef, 'organizationId' | 'id'>): Promise<TaskRef[]> {
    const within = scopeCondition(scope, { organization: 't.organization_id' }, 3);
    return this.statements.byKey<TaskRef>(
      `select t.organization_id as "organizationId", t.id, t.to_agent_id as "toAgentId" from tasks t
       where t.organization_id = $1 and t.ancestors @> array[$2::text] and t.status = 'assigned' and ${within.sql}`,
      [organizationId, id, ...within.parameters],
    );
  }

  /** Assigned tasks that can be done no more: what they are part of has ended, or an agent of their chain has left. */
  async orphaned(limit: number): Promise<TaskRef[]> {
    return this.statements.byKey<TaskRef>(
      `select t.organization_id as "organizationId", t.id, t.to_agent_id as "toAgentId" from tasks t
       where t.status = 'assigned' and (has_ended_task_v1(t.organization_id, t.ancestors) or exists (
         select from unnest(t.chain) as c(id) left join agents a on a.organization_id = t.organization_id and a.id = c.id
         where a.id is null or a.status = 'removed'))
       order by t.organization_id, t.id limit $1`,
      [limit],
    );
  }
}
