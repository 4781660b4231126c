import type { AuditEvent } from '../../../domain/audit/catalogue/audit-events.js';
import { agentChain } from '../../../domain/audit/entry/chain.js';
import { jcs } from '../../../domain/audit/entry/jcs.js';
import { type PreparedEntry, prepareEntry } from '../../../domain/audit/entry/prepare-entry.js';
import { entryColumns } from '../../../platform/database/transaction/chain-writer.js';
import { notify } from '../../../platform/outbox/effects.js';
import type { OutboxSignal } from '../../../platform/outbox/outbox-signal.js';
import { type Closed, closingEvent } from '../../executions/closing/closing-events.js';
import type { ExecutionRuntime } from '../../executions/execution.entity.js';
import type { StartedExecution } from '../admission/admission-item.js';

/** The execution that is closed, at its beginning `fence`. */
export type ClosedExecution = Pick<
  StartedExecution,
  'organizationId' | 'agentId' | 'executionId' | 'capability' | 'fence' | 'flagged' | 'notify' | 'hitlRequestId' | 'traceparent'
>;

/** One of the executions that are closed by one call of `gate_close_v1`. */
export interface Closing {
  readonly execution: ClosedExecution;
  readonly closed: Closed;
  readonly runtime: ExecutionRuntime;
  /** The closing one is the last. */
  readonly entries: readonly PreparedEntry[];
}

/** How many parameters `closeParameters` makes, for `gate_close_v1` and for functions that call it. */
const PARAMETERS = 14;

/** `$n, …` for these parameters, from this number on. */
export function closePlaceholders(from: number): string {
  return Array.from({ length: PARAMETERS }, (_, i) => `$${from + i}`).join(', ');
}

export function closeParameters(closings: readonly Closing[]): unknown[] {
  return [
    JSON.stringify(closings.map(rowOf)),
    JSON.stringify(closings.flatMap(notificationsOf)),
    closings.flatMap(({ entries }, i) => entries.map(() => i + 1)),
    ...entryColumns(closings.flatMap(({ entries }) => entries)),
  ];
}

/** @param before entries that stand before the closing one, made before */
export function closingOf(
  execution: ClosedExecution, closed: Closed, runtime: ExecutionRuntime, before: readonly PreparedEntry[] = [],
): Closing {
  return { execution, closed, runtime, entries: [...before, prepared(execution, closingEvent(execution, closed), closed.auditId)] };
}

export function prepared({ organizationId, agentId }: ClosedExecution, event: AuditEvent, id: string): PreparedEntry {
  const chain = agentChain(organizationId, agentId);
  return prepareEntry({ ...event, chain, agentId }, { id, actorId: agentId, timestamp: new Date() });
}

/** Says that people may have been told, once the closings are committed. */
export function signalNews(closings: readonly Closing[], outbox: OutboxSignal): void {
  if (closings.some((closing, i) => notificationsOf(closing, i).length > 0)) outbox.notify(new Set(['notification.send']));
}

/** People are notified of executions of mode notify, and of indeterminate ones. */
function notificationsOf({ execution, closed }: Closing, index: number): Record<string, unknown>[] {
  const event = closed.status === 'indeterminate' ? 'execution.indeterminate' : execution.notify ? 'execution.notified' : undefined;
  if (event === undefined) return [];
  const { organizationId, kind, payload } = notify(execution.organizationId, event, {
    executionId: execution.executionId, ...(execution.traceparent === undefined ? {} : { traceparent: execution.traceparent }),
  });
  return [{ item: index + 1, organization_id: organizationId, kind, payload }];
}

function rowOf({ execution, closed, runtime }: Closing, index: number): Record<string, unknown> {
  return {
    n: index + 1, organization_id: execution.organizationId, agent_id: execution.agentId, id: execution.executionId,
    fence: execution.fence, status: closed.status,
    output: closed.output === undefined ? null : jcs(closed.output), error: closed.error ?? null, audit_id: closed.auditId,
    closed_at: new Date(), duration_ms: closed.durationMs, runtime,
  };
}
