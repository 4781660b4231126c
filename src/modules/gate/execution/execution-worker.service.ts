import { Injectable } from '@nestjs/common';
import { agentChain } from '../../../domain/audit/entry/chain.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import type { ApprovedAction } from '../../../platform/outbox/effects.js';
import type { OutboxRow } from '../../../platform/outbox/outbox-row.js';
import type { EffectHandler } from '../../../platform/outbox/effect-handler.js';
import { startedEvent } from '../../executions/started-event.js';
import { approvedBeginning, ReceiptExecutionService } from '../../hitl/requests/receipt-execution.service.js';
import { planFor } from '../../hitl/requests/request-plan.js';
import type { StartedExecution } from '../admission/admission-item.js';
import { type Approved, BeginApprovedService } from './begin-approved.service.js';
import { RunExecutionService } from './run-execution.service.js';

/**
 * Begins approved actions. An approval calls nothing: it writes an outbox row, and this worker begins the execution by
 * compare-and-set. So the execution begins once, however often the row is delivered, and to however many workers at once.
 */
@Injectable()
export class ExecutionWorker implements EffectHandler {
  readonly kind = 'execution.run';
  readonly isBrief = true;

  constructor(
    private readonly work: UnitOfWork,
    private readonly beginning: BeginApprovedService,
    private readonly licences: ReceiptExecutionService,
    private readonly running: RunExecutionService,
  ) {}

  /** Returns once `execution.started` is durable. The runtime is called meanwhile, and its outcome closes the execution. */
  async handle({ organizationId, payload }: OutboxRow): Promise<void> {
    const action = { organizationId, ...payload } as unknown as ApprovedAction;
    const started = await this.work.runOn(planFor(action), (tx) => this.beginning.read(tx, action), async (tx, approved) => {
      const { execution, request } = approved;
      // Another worker, which took this one's claim over, was first; or the execution was cancelled meanwhile.
      if (execution.status !== 'pending_hitl' || request.status !== 'approved') return undefined;
      const hindrance = this.beginning.hindrance(approved);
      if (hindrance !== undefined) return void (await this.licences.withdraw(tx, execution, hindrance));
      return this.start(tx, approved);
    });
    if (started) void this.running.run(started).catch(() => undefined);
    else this.running.announce(action.executionId, action.hitlRequestId);
  }

  private async start(tx: Tx, approved: Approved): Promise<StartedExecution> {
    const { execution, request, facts } = approved;
    const { runtime } = facts.runtime;
    tx.record(agentChain(execution.organizationId, execution.agentId), startedEvent(approvedBeginning(request, facts, runtime)));
    await this.licences.count(tx, request, facts);
    return this.beginning.begin(tx, approved);
  }
}
