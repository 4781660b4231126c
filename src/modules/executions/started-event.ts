import type { Basis } from '../../domain/audit/catalogue/basis.js';
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
  /** The request, and the entry of its decision, where people or time let it begin. */
  readonly approval?: { readonly hitlId: string; readonly decisionId: string };
}

/** `execution.started`, the same for the gate, for an approval and for the worker that runs an approved action. */
export function startedEvent({ capability, flagged, grant, approval, ...metadata }: Beginning): AuditEventOf<'execution.started'> {
  const under = grant ? { grantId: grant.id, grantVersion: grant.version } : {};
  return { type: 'execution.started', capability, metadata: { ...metadata, ...under, ...approval, flagged } };
}
