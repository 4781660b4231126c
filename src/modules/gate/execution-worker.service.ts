import { Injectable } from '@nestjs/common';
import { agentChain } from '../../domain/audit/chain.js';
import type { JsonObject } from '../../domain/json.js';
import type { Tx } from '../../platform/database/tx.js';
import { UnitOfWork } from '../../platform/database/unit-of-work.js';
import type { OutboxRow } from '../../platform/outbox/outbox.store.js';
import type { EffectHandler } from '../../platform/outbox/outbox.worker.js';
import type { Facts } from '../authority/facts.query.js';
import type { ExecutionEntity } from '../executions/execution.entity.js';
import { ExecutionStore } from '../executions/execution.store.js';
import type { HitlRequestEntity } from '../hitl/hitl-request.entity.js';
import { LicenceService } from '../hitl/licence.service.js';
import { HitlRequestStore } from '../hitl/hitl-request.store.js';
import { planFor } from '../hitl/request-plan.js';
import type { StartedExecution } from './admission-item.js';
import { BeginApprovedService } from './begin-approved.service.js';
import { RunExecutionService } from './run-execution.service.js';

/**
 * Begins approved actions. Approval and execution meet in data, not by a call: the approval leaves an outbox row, and
 * this worker begins the execution by compare-and-set, so that however often the row is delivered, and to however many
 * workers at once, it begins once.
 */
@Injectable()
export class ExecutionWorker implements EffectHandler {
  readonly kind = 'execution.run';

  constructor(
    private readonly work: UnitOfWork,
    private readonly executions: ExecutionStore,
    private readonly requests: HitlRequestStore,
    private readonly beginning: BeginApprovedService,
    private readonly licences: LicenceService,
    private readonly running: RunExecutionService,
  ) {}

  /** Returns once `execution.started` is durable; the runtime is called beside, and closes by itself. */
  async handle({ organizationId, payload }: OutboxRow): Promise<void> {
    const { agentId, executionId: id } = payload as { agentId: string; executionId: string };
    const started = await this.work.run(planFor({ organizationId, agentId }), async (tx) => {
      const execution = await this.executions.read(tx, { organizationId, id });
      // Another worker, which took this one's claim over, was first; or it was cancelled meanwhile.
      if (execution.status !== 'pending_hitl') return undefined;
      if (execution.agentId !== agentId) throw new Error(`execution ${id} is not of agent ${agentId}`);
      const request = await this.requests.read(tx, { organizationId, id: execution.hitlRequestId! });
      if (request.status !== 'approved') return undefined;
      const { facts, hindrance } = await this.beginning.judge(tx, execution, request);
      if (hindrance !== undefined) return void (await this.licences.withdraw(tx, execution, hindrance));
      // The server was started with another runtime meanwhile, under which the agent does the work itself.
      if (!this.licences.isReceipt(request, facts)) return this.start(tx, execution, request, facts);
      await this.licences.give(tx, request, facts);
      return undefined;
    });
    if (started) void this.running.run(started).catch(() => undefined);
    else this.running.announce(id);
  }

  private async start(tx: Tx, execution: ExecutionEntity, request: HitlRequestEntity, facts: Facts): Promise<StartedExecution> {
    const { organizationId, agentId, capability, action } = execution;
    tx.record(agentChain(organizationId, agentId), {
      type: 'execution.started',
      capability,
      metadata: {
        executionId: execution.id, hitlId: request.id, decisionId: request.decisionEntryId!, definition: request.definition,
        input: JSON.parse(request.input) as JsonObject, reasons: request.reasons, runtime: this.running.choose(facts.definition).runtime,
        grantId: facts.grant!.id, grantVersion: facts.grant!.version,
        ...(request.context === null ? {} : { context: JSON.parse(request.context) as JsonObject }),
        ...(action === null ? {} : { action }),
        ...(execution.flagged ? { flagged: true } : {}),
      },
    });
    await this.licences.count(tx, request, facts);
    return this.beginning.begin(tx, execution, request, facts);
  }
}
