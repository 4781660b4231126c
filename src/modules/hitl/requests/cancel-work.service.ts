import { Inject, Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Waiters } from '../../../platform/wake/waiters.js';
import { GrantUsageStore } from '../../capabilities/grant-usage.store.js';
import { ExecutionStore } from '../../executions/execution.store.js';
import { HitlRequestStore } from './hitl-request.store.js';
import { ReceiptExecutionService } from './receipt-execution.service.js';
import { ApplyTransitionService } from './apply-transition.service.js';

/** Ends what an agent has before people, and what they approved and has not begun. In the caller's unit of work, under its head. */
@Injectable()
export class CancelWorkService {
  constructor(
    private readonly requests: HitlRequestStore,
    private readonly moving: ApplyTransitionService,
    private readonly executions: ExecutionStore,
    private readonly usage: GrantUsageStore,
    private readonly licences: ReceiptExecutionService,
    @Inject(Waiters) private readonly waiters: Pick<Waiters, 'wake'>,
  ) {}

  /**
   * Holds all that the agent's work has shares in before the first of it ends, also what `approved` will end.
   *
   * @param cause a code for the entries
   * @returns ids to announce after the commit
   */
  async openRequests(tx: Tx, organizationId: string, agentId: string, cause: string): Promise<string[]> {
    await this.usage.hold(tx, organizationId, await this.executions.waiting(tx, organizationId, agentId));
    const open = await this.requests.openOf(tx, organizationId, agentId);
    const command = { kind: 'cancel', by: 'system' } as const;
    const requests = await this.requests.readAll(tx, open);
    await this.moving.moveAll(tx, requests.map((found) => ({ found, command, actorId: 'system', cause })));
    return open.flatMap(({ id, executionId }) => [id, executionId]);
  }

  /**
   * The requests stay approved; what was approved does not begin. Asked after the open ones have ended, which hold executions too.
   *
   * @returns ids to announce after the commit
   */
  async approved(tx: Tx, organizationId: string, agentId: string, reason: string): Promise<string[]> {
    const ids: string[] = [];
    for (const id of await this.executions.waiting(tx, organizationId, agentId)) {
      const execution = await this.executions.read(tx, { organizationId, id });
      await this.licences.withdraw(tx, execution, reason);
      ids.push(id, ...(execution.hitlRequestId === null ? [] : [execution.hitlRequestId]));
    }
    return ids;
  }

  /** Tells whoever waits for these requests and executions to look again. */
  announce(ids: readonly string[]): void {
    for (const id of ids) this.waiters.wake(id);
  }
}
