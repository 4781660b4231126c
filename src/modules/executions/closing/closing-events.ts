import type { AuditEventOf } from '../../../domain/audit/catalogue/audit-events.js';
import { jcs } from '../../../domain/audit/entry/jcs.js';
import { outputSummary } from '../../../domain/audit/entry/output-summary.js';
import type { JsonValue } from '../../../domain/json.js';
import type { ExecutionError } from '../execution.entity.js';

/** How an execution ended. `durationMs` is absent where nobody saw how long it took. */
export interface End {
  readonly status: 'executed' | 'failed' | 'indeterminate';
  readonly durationMs?: number;
  readonly output?: JsonValue;
  readonly error?: ExecutionError;
}

/** How an execution ended, as it is stored and answered. */
export interface Closed extends End {
  readonly auditId: string;
  readonly durationMs: number;
}

/** Of which execution an event tells. */
export interface EventSubject {
  readonly executionId: string;
  readonly capability: string;
  readonly hitlRequestId?: string | null | undefined;
  readonly flagged: boolean;
}

/** The event that closes an execution. */
export function closingEvent(of: EventSubject, end: End): AuditEventOf<'execution.completed'> | AuditEventOf<'execution.failed'> {
  const { capability } = of;
  const metadata = {
    executionId: of.executionId,
    ...(end.durationMs === undefined ? {} : { durationMs: end.durationMs }),
    ...(of.hitlRequestId ? { hitlId: of.hitlRequestId } : {}),
    ...(of.flagged ? { flagged: true } : {}),
    ...(end.output === undefined ? {} : { outputSummary: outputSummary(jcs(end.output)) }),
  };
  if (end.status === 'executed') return { type: 'execution.completed', capability, metadata };
  const outcome = end.status === 'indeterminate' ? { outcome: end.status } : {};
  return { type: 'execution.failed', capability, metadata: { ...metadata, error: end.error!, ...outcome } };
}

/** An outcome that came in too late to close the execution: told beside, it changes nothing. */
export function lateEvent(of: EventSubject, end: End): AuditEventOf<'execution.reported'> {
  return {
    type: 'execution.reported',
    capability: of.capability,
    metadata: {
      executionId: of.executionId,
      outcome: end.status === 'executed' ? 'success' : 'failure',
      late: true,
      ...(end.durationMs === undefined ? {} : { durationMs: end.durationMs }),
      ...(end.output === undefined ? {} : { output: end.output }),
      ...(end.error === undefined ? {} : { error: { ...end.error } }),
      ...(of.flagged ? { flagged: true } : {}),
    },
  };
}
