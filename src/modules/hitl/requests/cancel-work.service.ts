import { Inject, Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Waiters } from '../../../platform/wake/waiters.js';
import { GrantUsageStore } from '../../capabilities/grant-usage.store.js';
import { ExecutionStore } from '../../executions/execution.store.js';
import { HitlRequestStore } from './hitl-request.store.js';
import { ReceiptExecutionService } from './receipt-execution.service.js';
import { ApplyTransitionService } from './apply-transition.service.js';

/** Ends an agent's open requests, and its approved actions that have not begun. In the caller's unit of work, under the agent's head. */
@Injectable()
export class CancelWorkService {
  constructor(
    private readonly requests: HitlRequestStore,
    private readonly transitions: ApplyTransitionService,
    private readonly executions: ExecutionStore,
    private readonly usage: GrantUsageStore,
    private readonly receipts: ReceiptExecutionService,
    @Inject(Waiters) private readonly waiters: Pick<Waiters, 'wake'>,
  ) {}

  /**
   * Cancels the open requests. Locks the usage rows of all waiting executions first, also of those that `approved` will end.
   *
   * @param cause a code for the entries
   * @returns ids to announce after the commit
   */
  async openRequests(tx: Tx, organizationId: string, agentId: string, cause: string): Promise<string[]> {
    await this.usage.lockCounting(tx, organizationId, await this.executions.waiting(tx, organizationId, agentId));
    const open = await this.requests.openOf(tx, organizationId, agentId);
    const command = { kind: 'cancel', by: 'system' } as const;
    const requests = await this.requests.readAll(tx, open);
    await this.transitions.applyAll(tx, requests.map((request) => ({ request, command, actorId: 'system', cause })));
    return open.flatMap(({ id, executionId }) => [id, executionId]);
  }

  /**
   * Withdraws approved actions; their requests stay approved. Called after `openRequests`, whose executions wait too.
   *
   * @returns ids to announce after the commit
   */
  async approved(tx: Tx, organizationId: string, agentId: string, reason: string): Promise<string[]> {
    const ids: string[] = [];
    for (const id of await this.executions.waiting(tx, organizationId, agentId)) {
      const execution = await this.executions.read(tx, { organizationId, id });
      await this.receipts.withdraw(tx, execution, reason);
      ids.push(id, ...(execution.hitlRequestId === null ? [] : [execution.hitlRequestId]));
    }
    return ids;
  }

  /** Wakes the callers that wait for these requests and executions. */
  announce(ids: readonly string[]): void {
    for (const id of ids) this.waiters.wake(id);
  }
}
