import { agentChain } from '../../../domain/audit/entry/chain.js';
import { jcs } from '../../../domain/audit/entry/jcs.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import type { NotificationEvent } from '../../../domain/notifications/events.js';
import { notify } from '../../../platform/outbox/effects.js';
import type { ExecutionEntity } from '../execution.entity.js';
import type { ExecutionStore } from '../execution.store.js';
import { closingEvent, type End, type EventSubject } from './closing-events.js';

const CODE = 'INDETERMINATE';

/**
 * Closes a running execution, which this unit of work has read under its agent's head: compare-and-set on `running` and the fence, the
 * closing entry, and the news of it. Where a batch closes many, `gate_close_v1` does the same.
 */
export async function closeWithin(tx: Tx, executions: ExecutionStore, execution: ExecutionEntity, end: End): Promise<void> {
  const { organizationId, agentId } = execution;
  const auditId = tx.record(agentChain(organizationId, agentId), closingEvent(subjectOf(execution), end), { closing: true });
  await executions.move(tx, 'running', {
    ...execution, status: end.status, auditId, closedAt: await tx.now(), leaseUntil: null, error: end.error ?? null,
    output: end.output === undefined ? null : jcs(end.output), durationMs: end.durationMs ?? null,
  });
  const news = newsOf(execution, end);
  if (news !== undefined) tx.enqueue(notify(organizationId, news, { executionId: execution.id }));
}

/** Ends a running execution of which nobody knows whether the action was done. */
export function closeIndeterminate(tx: Tx, executions: ExecutionStore, execution: ExecutionEntity, message: string): Promise<void> {
  return closeWithin(tx, executions, execution, { status: 'indeterminate', error: { code: CODE, message } });
}

export function subjectOf({ id, capability, hitlRequestId, flagged }: ExecutionEntity): EventSubject {
  return { executionId: id, capability, hitlRequestId, flagged };
}

/** People are notified of executions of mode notify, and of indeterminate ones. */
function newsOf({ effectiveMode, hitlRequestId }: ExecutionEntity, { status }: End): NotificationEvent | undefined {
  if (status === 'indeterminate') return 'execution.indeterminate';
  return effectiveMode === 'notify' && hitlRequestId === null ? 'execution.notified' : undefined;
}
