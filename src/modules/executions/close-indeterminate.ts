import { agentChain } from '../../domain/audit/entry/chain.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { notify } from '../../platform/outbox/effects.js';
import type { ExecutionEntity } from './execution.entity.js';
import type { ExecutionStore } from './execution.store.js';

const CODE = 'INDETERMINATE';

/** Ends a running execution of which nobody knows whether the action was done: an entry is recorded and people are notified. */
export async function closeIndeterminate(tx: Tx, executions: ExecutionStore, execution: ExecutionEntity, message: string): Promise<void> {
  const { organizationId, agentId, capability, hitlRequestId } = execution;
  const error = { code: CODE, message };
  const auditId = tx.record(
    agentChain(organizationId, agentId),
    {
      type: 'execution.failed',
      capability,
      metadata: {
        executionId: execution.id,
        error,
        outcome: 'indeterminate',
        ...(hitlRequestId === null ? {} : { hitlId: hitlRequestId }),
        ...(execution.flagged ? { flagged: true } : {}),
      },
    },
    { closing: true },
  );
  await executions.move(tx, 'running', {
    ...execution, status: 'indeterminate', error, auditId, closedAt: await tx.now(), leaseUntil: null,
  });
  tx.enqueue(notify(organizationId, 'execution.indeterminate', { executionId: execution.id }));
}
