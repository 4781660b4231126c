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
 * Ends requests of which something is about to be erased: nobody shall approve, and nothing shall run, what is no longer what was
 * asked. In the caller's unit of work, under the heads of their agents.
 */
@Injectable()
export class CancelErasedService {
  constructor(
    private readonly requests: HitlRequestStore,
    private readonly moving: ApplyTransitionService,
    private readonly executions: ExecutionStore,
    private readonly usage: GrantUsageStore,
    private readonly licences: ReceiptExecutionService,
    private readonly waiters: Waiters,
  ) {}

  /**
   * Open ones are cancelled by the system; what was approved and has not begun does not begin, and its request stays approved.
   * Whoever waits for them is told after the commit.
   */
  async cancel(tx: Tx, organizationId: string, places: readonly Pick<RequestRef, 'id' | 'executionId'>[]): Promise<void> {
    if (places.length === 0) return;
    await this.usage.hold(tx, organizationId, places.map(({ executionId }) => executionId));
    const found = await this.requests.readAll(tx, places.map(({ id }) => ({ organizationId, id })));
    const open = found.filter(({ status }) => isOpen(status));
    const command = { kind: 'cancel', by: 'system' } as const;
    await this.moving.moveAll(tx, open.map((one) => ({ found: one, command, actorId: 'system', cause: CAUSE })));
    for (const { executionId } of found.filter(({ status }) => status === 'approved')) {
      const execution = await this.executions.read(tx, { organizationId, id: executionId });
      if (execution.status === 'pending_hitl') await this.licences.withdraw(tx, execution, CAUSE);
    }
    tx.onCommit(() => places.flatMap(({ id, executionId }) => [id, executionId]).forEach((topic) => this.waiters.wake(topic)));
  }
}
