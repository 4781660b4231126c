import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { type Scope, scopeCondition } from '../../platform/auth/access/scope.js';
import { GatheredReads } from '../../platform/database/batching/gathered-reads.js';
import { Statements } from '../../platform/database/statements/statements.js';
import { textArray } from '../../platform/database/statements/text-array.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { EXECUTION_COLUMNS } from './execution-columns.js';
import { ExecutionEntity, type ExecutionStatus } from './execution.entity.js';

export interface ExecutionRef {
  organizationId: string;
  agentId: string;
  id: string;
  /** Of a task's execution: the agents before its own. */
  taskChain?: string[] | null;
}

/** Columns that are known only when the execution begins. */
export type ExecutionStart = Pick<ExecutionEntity, 'runtime' | 'grantId' | 'grantVersion'>;

/** An execution whose request ended without an approval: `auditId` is the entry that says so. */
export interface CancelledExecution {
  organizationId: string;
  id: string;
  reason: string;
  auditId: string | null;
}

const FOUND = `
  select i.n, ${EXECUTION_COLUMNS} from unnest($1::text[], $2::text[]) with ordinality as i(organization_id, id, n)
  cross join lateral (select * from executions where organization_id = i.organization_id and id = i.id limit 1) e`;

@Injectable()
export class ExecutionStore {
  private readonly gathered: GatheredReads<Pick<ExecutionRef, 'organizationId' | 'id'>, ExecutionEntity>;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {
    this.gathered = new GatheredReads(statements, FOUND, (all) => [
      textArray(all.map(({ organizationId }) => organizationId)), textArray(all.map(({ id }) => id)),
    ]);
  }

  /** @throws Problem NOT_FOUND */
  async findRef(scope: Scope, id: string): Promise<ExecutionRef> {
    const within = scopeCondition(scope, { organization: 'e.organization_id', agent: 'e.agent_id' }, 2);
    const [row] = await this.statements.byKey<ExecutionRef>(
      `select e.organization_id as "organizationId", e.agent_id as "agentId", e.id from executions e
       where e.id = $1 and e.organization_id in (select id from organizations) and ${within.sql}`,
      [id, ...within.parameters],
    );
    if (!row) throw new Problem('NOT_FOUND', 'There is no such execution.');
    return row;
  }

  /** As it is at this moment, without a lock. */
  find({ organizationId, id }: Pick<ExecutionRef, 'organizationId' | 'id'>): Promise<ExecutionEntity | undefined> {
    return this.gathered.read({ organizationId, id });
  }

  /** Reads the row and locks it until this unit of work ends. */
  async read(tx: Tx, ref: Pick<ExecutionRef, 'organizationId' | 'id'>): Promise<ExecutionEntity> {
    const execution = await this.readAny(tx, ref);
    if (!execution) throw new Problem('NOT_FOUND', 'There is no such execution.');
    return execution;
  }

  /** The same for what may not be there. */
  async readAny(tx: Tx, { organizationId, id }: Pick<ExecutionRef, 'organizationId' | 'id'>): Promise<ExecutionEntity | undefined> {
    const [execution] = await tx.query<ExecutionEntity & Record<string, unknown>>(
      `select ${EXECUTION_COLUMNS} from executions e where e.organization_id = $1 and e.id = $2 for update of e`, [organizationId, id],
    );
    return execution;
  }

  /**
   * Compare-and-set on the status and the fence that were read.
   *
   * @throws Error when the row has changed since it was read. The head's lock rules that out; should it ever fail to, the unit of work
   * is rolled back
   */
  async move(tx: Tx, from: ExecutionStatus, next: ExecutionEntity): Promise<void> {
    const { organizationId, id, ...rest } = next;
    const read = { organizationId, id, status: from, fence: next.fence };
    const result = await tx.manager.getRepository(ExecutionEntity).update(read, rest as object);
    if (result.affected !== 1) throw new Error(`execution ${id} was no longer ${from}`);
  }

  /**
   * Replaces the input of an execution that waits for a decision, after an edit.
   *
   * @throws Error when the execution no longer waited
   */
  async edit(
    tx: Tx,
    { organizationId, id }: Pick<ExecutionRef, 'organizationId' | 'id'>,
    edited: Pick<ExecutionEntity, 'input' | 'edit'> & Partial<Pick<ExecutionEntity, 'effectiveMode'>>,
  ): Promise<void> {
    const result = await tx.manager
      .getRepository(ExecutionEntity)
      .update({ organizationId, id, status: 'pending_hitl' }, edited as object);
    if (result.affected !== 1) throw new Error(`execution ${id} no longer waited for its decision`);
  }

  /**
   * Starts an execution, for the first time or again: a compare-and-set like `move` that raises the fence and gives the lease.
   *
   * @param leaseSeconds from now, by the database's clock
   * @returns the new fence, valid once the unit of work is committed
   */
  begin(tx: Tx, read: ExecutionEntity, next: ExecutionStart, leaseSeconds: number): number {
    const { organizationId, id, status, fence } = read;
    tx.assertRowCount(
      `update executions set status = 'running', fence = fence + 1, runtime = $5, grant_id = $6, grant_version = $7,
         started_at = coalesce(started_at, statement_timestamp()), lease_until = clock_timestamp() + make_interval(secs => $8)
       where organization_id = $1 and id = $2 and status = $3 and fence = $4 returning id`,
      [organizationId, id, status, fence, next.runtime, next.grantId, next.grantVersion, leaseSeconds], 1,
      () => new Error(`execution ${id} was no longer ${status}`),
    );
    return fence + 1;
  }

  /**
   * Cancels executions that waited for a decision: a compare-and-set like `move`, of many rows at once.
   *
   * @throws Error when one of them no longer waited
   */
  async cancel(tx: Tx, cancelled: readonly CancelledExecution[], closedAt: Date): Promise<void> {
    if (cancelled.length === 0) return;
    const rows = await tx.query(
      `update executions e set status = 'cancelled', reason = c.reason, audit_id = c.audit_id, closed_at = $5
       from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as c(organization_id, id, reason, audit_id)
       where e.organization_id = c.organization_id and e.id = c.id and e.status = 'pending_hitl' returning e.id`,
      [
        cancelled.map((one) => one.organizationId), cancelled.map((one) => one.id), cancelled.map((one) => one.reason),
        cancelled.map((one) => one.auditId), closedAt,
      ],
    );
    if (rows.length !== cancelled.length) throw new Error('an execution no longer waited for its decision');
  }

  /** Executions of an agent that wait for a person, or were approved and have not begun. */
  async waiting(tx: Tx, organizationId: string, agentId: string): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(
      `select id from executions where organization_id = $1 and agent_id = $2 and status = 'pending_hitl' order by id`,
      [organizationId, agentId],
    );
    return rows.map((row) => row.id);
  }

  /** Executions of an agent that are running. */
  async running(tx: Tx, organizationId: string, agentId: string): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(
      `select id from executions where organization_id = $1 and agent_id = $2 and status = 'running' order by id`,
      [organizationId, agentId],
    );
    return rows.map((row) => row.id);
  }

  /** Executions that a crash left behind: their lease is over. */
  async abandoned(limit: number): Promise<ExecutionRef[]> {
    return (await this.dataSource.query(
      `select e.organization_id as "organizationId", e.agent_id as "agentId", e.id, e.task_chain as "taskChain" from executions e
       where e.status = 'running' and e.lease_until < statement_timestamp() order by e.lease_until limit $1`,
      [limit],
    )) as ExecutionRef[];
  }
}
