import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Reason } from '../../domain/gate/decide.js';
import type { HitlMode } from '../../domain/gate/vocabulary.js';
import type { JsonObject } from '../../domain/json.js';

/** `pending_hitl` until a person has decided and the action begins; `running` while its runtime has it. */
export const EXECUTION_STATUSES = ['pending_hitl', 'running', 'executed', 'failed', 'indeterminate', 'blocked', 'cancelled'] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

const OPEN_STATUSES: readonly ExecutionStatus[] = ['pending_hitl', 'running'];

/** Whether nothing more happens by itself: also of an execution that is not found. */
export function isFinalExecution(execution: ExecutionEntity | undefined): boolean {
  return !execution || !OPEN_STATUSES.includes(execution.status);
}

/** `receipt`: the governed agent does the work itself; the gate's answer is its licence. */
export type ExecutionRuntime = 'receipt' | 'connector' | 'webhook' | 'node' | 'llm';

export interface ExecutionError {
  readonly code: string;
  readonly message: string;
}

@Entity('executions')
export class ExecutionEntity {
  @PrimaryColumn('text', { name: 'organization_id' })
  organizationId!: string;

  @PrimaryColumn('text')
  id!: string;

  @Column('text', { name: 'agent_id' })
  agentId!: string;

  @Column('text')
  capability!: string;

  @Column('text', { nullable: true })
  action!: string | null;

  @Column('text')
  status!: ExecutionStatus;

  @Column('text', { name: 'effective_mode' })
  effectiveMode!: HitlMode;

  @Column('boolean')
  flagged!: boolean;

  @Column('text')
  runtime!: ExecutionRuntime;

  /** Canonical text: the exact bytes that run. */
  @Column('text')
  input!: string;

  @Column('text', { nullable: true })
  context!: string | null;

  @Column('json')
  reasons!: Reason[];

  /** Digest of the capability's definition at the decision. */
  @Column('text')
  definition!: string;

  @Column('text', { name: 'grant_id', nullable: true })
  grantId!: string | null;

  @Column('integer', { name: 'grant_version', nullable: true })
  grantVersion!: number | null;

  @Column('text', { name: 'hitl_request_id', nullable: true })
  hitlRequestId!: string | null;

  @Column('text', { name: 'requested_by' })
  requestedBy!: string;

  @Column('text', { nullable: true })
  reason!: string | null;

  /** JSON text of what the runtime answered. */
  @Column('text', { nullable: true })
  output!: string | null;

  @Column('json', { nullable: true })
  error!: ExecutionError | null;

  @Column('text', { name: 'audit_id', nullable: true })
  auditId!: string | null;

  @Column('text', { nullable: true })
  traceparent!: string | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'started_at', nullable: true })
  startedAt!: Date | null;

  @Column('timestamptz', { name: 'closed_at', nullable: true })
  closedAt!: Date | null;

  @Column('integer', { name: 'duration_ms', nullable: true })
  durationMs!: number | null;

  @Column('timestamptz', { name: 'lease_until', nullable: true })
  leaseUntil!: Date | null;

  /** The number of the newest start, raised with each lease; closing an execution compares the fence. */
  @Column('integer')
  fence!: number;

  /** The task that it does. */
  @Column('text', { name: 'task_id', nullable: true })
  taskId!: string | null;

  /** Of a task's execution: the agents before this one, the first first. */
  @Column('text', { name: 'task_chain', array: true, nullable: true })
  taskChain!: string[] | null;

  @Column('json', { nullable: true })
  report!: JsonObject | null;

  @Column('json', { nullable: true })
  settlement!: JsonObject | null;

  /** What a reviewer changed before it ran: `{by, at, diff}`; `input` is what ran. */
  @Column('json', { nullable: true })
  edit!: JsonObject | null;
}
