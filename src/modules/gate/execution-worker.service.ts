import { Injectable } from '@nestjs/common';
import { agentChain } from '../../domain/audit/chain.js';
import type { JsonObject } from '../../domain/json.js';
import { scopeOfOrganization } from '../../platform/auth/scope.js';
import type { Tx } from '../../platform/database/tx.js';
import { UnitOfWork } from '../../platform/database/unit-of-work.js';
import type { OutboxRow } from '../../platform/outbox/outbox.store.js';
import type { EffectHandler } from '../../platform/outbox/outbox.worker.js';
import { type Facts, FactsQuery } from '../authority/facts.query.js';
import type { ExecutionEntity } from '../executions/execution.entity.js';
import { ExecutionStore } from '../executions/execution.store.js';
import type { HitlRequestEntity } from '../hitl/hitl-request.entity.js';
import { LicenceService } from '../hitl/licence.service.js';
import { HitlRequestStore } from '../hitl/hitl-request.store.js';
import { obstacleTo } from '../hitl/obstacle.js';
import { wasHeldSince } from '../organizations/stop-holds.query.js';
import type { StartedExecution } from './admission-item.js';
import { LEASE_GRACE_SECONDS } from './admission-plan.js';
import { RunExecutionService } from './run-execution.service.js';

/**
 * Begins approved actions. Approval and execution meet in data, not by a call: the approval leaves an outbox row, and
 * this worker begins the execution by compare-and-set, so that however often the row is delivered it runs at most once.
 */
@Injectable()
export class ExecutionWorker implements EffectHandler {
  readonly kind = 'execution.run';

  constructor(
    private readonly work: UnitOfWork,
    private readonly executions: ExecutionStore,
    private readonly requests: HitlRequestStore,
    private readonly facts: FactsQuery,
    private readonly licences: LicenceService,
    private readonly running: RunExecutionService,
  ) {}

  /** Returns once `execution.started` is durable; the runtime is called beside, and closes by itself. */
  async handle({ organizationId, payload }: OutboxRow): Promise<void> {
    const place = await this.executions.place(scopeOfOrganization(organizationId), payload.executionId as string);
    const chain = agentChain(organizationId, place.agentId);
    const plan = { chains: [chain], judges: [organizationId], leavesFacts: true, evenIfClosed: true } as const;
    const started = await this.work.run(plan, async (tx) => {
      const execution = await this.executions.read(tx, place);
      if (execution.status !== 'pending_hitl') return undefined;
      const request = await this.requests.read(tx, { organizationId, id: execution.hitlRequestId! });
      if (request.status !== 'approved') return undefined;
      const wanted = { organizationId, agentId: place.agentId, capability: execution.capability };
      const facts = await this.facts.readWithin(tx, wanted, execution.id);
      // A stop ends what was approved before it, also one that was lifted meanwhile: nobody approved it with that in mind.
      if (await wasHeldSince(tx, place, request.decidedAt!)) return void (await this.licences.withdraw(tx, execution, 'stopped'));
      const obstacle = obstacleTo(request, facts, request.deciderLevel);
      if (obstacle !== undefined) return void (await this.licences.withdraw(tx, execution, obstacle.code));
      // The server was started with another runtime meanwhile, under which the agent does the work itself.
      if (!this.licences.isReceipt(request, facts)) return this.start(tx, execution, request, facts);
      await this.licences.give(tx, request, facts);
      return undefined;
    });
    if (started) void this.running.run(started).catch(() => undefined);
    else this.running.announce(place.id);
  }

  private async start(tx: Tx, execution: ExecutionEntity, request: HitlRequestEntity, facts: Facts): Promise<StartedExecution> {
    const { runtime, timeoutSeconds } = this.running.choose(facts.definition);
    const { organizationId, agentId, capability, action } = execution;
    const chain = agentChain(organizationId, agentId);
    const input = JSON.parse(request.input) as JsonObject;
    const context = request.context === null ? undefined : (JSON.parse(request.context) as JsonObject);
    tx.record(chain, {
      type: 'execution.started',
      capability,
      metadata: {
        executionId: execution.id, hitlId: request.id, decisionId: request.decisionEntryId!, definition: request.definition, input,
        reasons: request.reasons, runtime, grantId: facts.grant!.id, grantVersion: facts.grant!.version,
        ...(context ? { context } : {}),
        ...(action === null ? {} : { action }),
        ...(execution.flagged ? { flagged: true } : {}),
      },
    });
    await this.licences.count(tx, request, facts);
    const now = await tx.now();
    await this.executions.move(tx, 'pending_hitl', {
      ...execution, status: 'running', runtime, startedAt: now, grantId: facts.grant!.id, grantVersion: facts.grant!.version,
      leaseUntil: await this.executions.leaseUntil(tx, timeoutSeconds + LEASE_GRACE_SECONDS),
    });
    return {
      organizationId, agentId, executionId: execution.id, capability, input, inputText: request.input, flagged: execution.flagged,
      notify: false, hitlRequestId: request.id, deadline: new Date(Date.now() + timeoutSeconds * 1000),
      ...(action === null ? {} : { action }),
      ...(context ? { context } : {}),
      ...(facts.definition?.connector ? { connector: facts.definition.connector } : {}),
      ...(execution.traceparent === null ? {} : { traceparent: execution.traceparent }),
    };
  }
}
