import { Injectable } from '@nestjs/common';
import { isOpen } from '../../../domain/hitl/transition.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Waiters } from '../../../platform/wake/waiters.js';
import { GrantUsageStore } from '../../capabilities/grant-usage.store.js';
import { ExecutionStore } from '../../executions/execution.store.js';
import { HitlRequestStore, type RequestRef } from './hitl-request.store.js';
import { ReceiptExecutionService } from './receipt-execution.service.js';
import { ApplyTransitionService } from './apply-transition.service.js';

const CAUSE = 'erased';

/**
 * Ends requests of which something is about to be erased: an action that is no longer what was asked must neither be approved nor run.
 * In the caller's unit of work, under the heads of the requests' agents.
 */
@Injectable()
export class CancelErasedService {
  constructor(
    private readonly requests: HitlRequestStore,
    private readonly transitions: ApplyTransitionService,
    private readonly executions: ExecutionStore,
    private readonly usage: GrantUsageStore,
    private readonly receipts: ReceiptExecutionService,
    private readonly waiters: Waiters,
  ) {}

  /**
   * Open requests are cancelled by the system. An approved action that has not begun is withdrawn, and its request stays approved.
   * Waiting callers are woken after the commit.
   */
  async cancel(tx: Tx, organizationId: string, refs: readonly Pick<RequestRef, 'id' | 'executionId'>[]): Promise<void> {
    if (refs.length === 0) return;
    await this.usage.lockCounting(tx, organizationId, refs.map(({ executionId }) => executionId));
    const found = await this.requests.readAll(tx, refs.map(({ id }) => ({ organizationId, id })));
    const open = found.filter(({ status }) => isOpen(status));
    const command = { kind: 'cancel', by: 'system' } as const;
    await this.transitions.applyAll(tx, open.map((one) => ({ request: one, command, actorId: 'system', cause: CAUSE })));
    for (const { executionId } of found.filter(({ status }) => status === 'approved')) {
      const execution = await this.executions.read(tx, { organizationId, id: executionId });
      if (execution.status === 'pending_hitl') await this.receipts.withdraw(tx, execution, CAUSE);
    }
    tx.onCommit(() => refs.flatMap(({ id, executionId }) => [id, executionId]).forEach((topic) => this.waiters.wake(topic)));
  }
}
