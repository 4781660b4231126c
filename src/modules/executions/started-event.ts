import type { Basis, DelegatorRecord } from '../../domain/audit/catalogue/basis.js';
import type { AuditEventOf } from '../../domain/audit/catalogue/audit-events.js';
import type { JsonObject } from '../../domain/json.js';
import type { ExecutionRuntime } from './execution.entity.js';

/** Everything that the first entry of an execution records. */
export interface Beginning {
  readonly executionId: string;
  readonly capability: string;
  readonly action?: string | undefined;
  readonly input: JsonObject;
  readonly context?: JsonObject | undefined;
  readonly reasons: AuditEventOf<'execution.started'>['metadata']['reasons'];
  /** Digest of the capability's definition. */
  readonly definition: string;
  readonly runtime: ExecutionRuntime;
  readonly flagged: boolean;
  readonly grant?: { readonly id: string; readonly version: number } | undefined;
  readonly basis: Basis;
  readonly task?: { readonly id: string; readonly delegators: readonly Delegating[] } | undefined;
  /** The request, and the entry of its decision, where people or time let it begin. */
  readonly approval?: { readonly hitlId: string; readonly decisionId: string };
}

/** Another agent of a task's chain, as it was when the gate asked about it. */
export interface Delegating {
  readonly agentId: string;
  readonly facts: { readonly position?: number; readonly grant?: { readonly id: string; readonly version: number } };
}

/** Whose rights beside the agent's a task's call rests on, and by which grants, up to which positions of their chains. */
export function delegatorsOf(delegators: readonly Delegating[] = []): { delegators?: DelegatorRecord[] } {
  if (delegators.length === 0) return {};
  return {
    delegators: delegators.map(({ agentId, facts: { position = 0, grant } }) =>
      ({ agentId, position, ...(grant ? { grantId: grant.id, grantVersion: grant.version } : {}) })),
  };
}

/** `execution.started`, the same for the gate, for an approval and for the worker that runs an approved action. */
export function startedEvent({ capability, flagged, grant, approval, task, ...metadata }: Beginning): AuditEventOf<'execution.started'> {
  const under = grant ? { grantId: grant.id, grantVersion: grant.version } : {};
  const within = task ? { taskId: task.id, ...delegatorsOf(task.delegators) } : {};
  return { type: 'execution.started', capability, metadata: { ...metadata, ...under, ...approval, ...within, flagged } };
}
