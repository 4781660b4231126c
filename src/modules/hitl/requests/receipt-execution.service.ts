import { Injectable } from '@nestjs/common';
import { basisOf } from '../../../domain/audit/catalogue/basis.js';
import { agentChain } from '../../../domain/audit/entry/chain.js';
import { decidedInput } from '../../../domain/gate/decided-input.js';
import { compareLimits } from '../../../domain/gate/limits.js';
import type { JsonObject } from '../../../domain/json.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { type ApprovedAction, runExecution } from '../../../platform/outbox/effects.js';
import type { Facts } from '../../authority/facts.js';
import { type GrantUse, GrantUsageStore } from '../../capabilities/grant-usage.store.js';
import type { ExecutionEntity, ExecutionRuntime } from '../../executions/execution.entity.js';
import { ExecutionStore } from '../../executions/execution.store.js';
import { type Beginning, startedEvent } from '../../executions/started-event.js';
import type { HitlRequestEntity } from './hitl-request.entity.js';

/**
 * The approval of an action that the agent (or the adapter that asked) does itself is a licence: nothing runs here, so decision,
 * start and completion are committed together.
 */
@Injectable()
export class ReceiptExecutionService {
  constructor(
    private readonly executions: ExecutionStore,
    private readonly usage: GrantUsageStore,
  ) {}

  /**
   * Counts an execution that begins now under the grant that lets it begin. While it waited, it was counted at the time of asking and
   * under the grant of that time: grant, limits and hour may be others now.
   */
  async count(tx: Tx, request: HitlRequestEntity, facts: Facts): Promise<void> {
    const { grant, agent, usage, task } = facts;
    if (!grant || !agent) return;
    if (!task && usage === undefined && grant.id === request.grantId) {
      return this.usage.keep(tx, request.organizationId, request.executionId);
    }
    const all = [facts, ...(task?.delegators ?? []).map((one) => one.facts)];
    const byGrant = new Map(all.map((one) => [one.grant?.id, usesOf(request, one)]));
    await this.usage.begin(tx, request.organizationId, request.executionId, [...byGrant.values()].flat());
  }

  /**
   * Cancels an approved execution that will not begin and gives its uses back. Its request stays approved.
   *
   * @param reason a code for execution and entry
   */
  async withdraw(tx: Tx, execution: ExecutionEntity, reason: string): Promise<void> {
    const { organizationId, id, agentId, capability, hitlRequestId, flagged } = execution;
    const hitl = hitlRequestId === null ? {} : { hitlId: hitlRequestId };
    const metadata = { executionId: id, reason, ...hitl, ...(flagged ? { flagged } : {}) };
    const chain = agentChain(organizationId, agentId);
    const auditId = tx.record(chain, { type: 'execution.cancelled', capability, metadata }, { actorId: 'system' });
    await this.usage.giveBack(tx, organizationId, [id]);
    await this.executions.move(tx, 'pending_hitl', { ...execution, status: 'cancelled', reason, auditId, closedAt: await tx.now() });
  }

  /**
   * Carries out an approval in the same unit of work: gives the licence, or enqueues the order to run the action.
   *
   * @param approved the request after its approval
   * @param by the actor of a licence, where that is not the caller: `system`
   * @returns whether the execution is done, or will run
   */
  async carryOut(tx: Tx, approved: HitlRequestEntity, facts: Facts, by?: string): Promise<'done' | 'runs'> {
    if (approved.runs === 'service') {
      tx.enqueue(runExecution(actionOf(approved)));
      return 'runs';
    }
    await this.giveLicence(tx, approved, facts, by);
    return 'done';
  }

  async giveLicence(tx: Tx, request: HitlRequestEntity, facts: Facts, by?: string): Promise<void> {
    const actor = by === undefined ? {} : { actorId: by };
    const chain = agentChain(request.organizationId, request.agentId);
    const execution = await this.executions.read(tx, { organizationId: request.organizationId, id: request.executionId });
    await this.count(tx, request, facts);
    const now = await tx.now();
    tx.record(chain, startedEvent(approvedBeginning(request, facts, 'receipt')), actor);
    const ended = { executionId: execution.id, hitlId: request.id, flagged: request.flagged, durationMs: 0 };
    const completed = { type: 'execution.completed', capability: request.capability, metadata: ended } as const;
    const auditId = tx.record(chain, completed, { ...actor, closing: true });
    await this.executions.move(tx, 'pending_hitl', {
      ...execution,
      status: 'executed',
      runtime: 'receipt',
      auditId,
      startedAt: now,
      closedAt: now,
      durationMs: 0,
      grantId: facts.grant?.id ?? execution.grantId,
      grantVersion: facts.grant?.version ?? execution.grantVersion,
    });
  }
}

/** What the request adds to what the limits of this agent's grant count. */
function usesOf({ input, context, capability }: HitlRequestEntity, { grant, agent, usage, now }: Facts): GrantUse[] {
  if (!grant || !agent) return [];
  const { uses } = compareLimits(grant.limits, usage?.used ?? [], {
    input: decidedInput(capability, JSON.parse(input) as JsonObject), agent, capability, now,
    ...(context === null ? {} : { context: JSON.parse(context) as JsonObject }),
  });
  return uses.map((use) => ({ ...use, grantId: grant.id }));
}

/** What an approved action begins with: the approved request, and the present grant. */
export function approvedBeginning(request: HitlRequestEntity, facts: Facts, runtime: ExecutionRuntime): Beginning {
  const { executionId, capability, action, input, context, reasons, definition, flagged } = request;
  return {
    executionId, capability, input: JSON.parse(input) as JsonObject, reasons, definition, runtime, flagged,
    approval: { hitlId: request.id, decisionId: request.decisionEntryId! },
    basis: basisOf(facts),
    task: facts.task,
    ...(facts.grant ? { grant: facts.grant } : {}),
    ...(context === null ? {} : { context: JSON.parse(context) as JsonObject }),
    ...(action === null ? {} : { action }),
  };
}

function actionOf({ organizationId, agentId, executionId, id, capability, taskId, taskChain }: HitlRequestEntity): ApprovedAction {
  const task = taskId === null ? {} : { taskId, taskChain: taskChain ?? [] };
  return { organizationId, agentId, executionId, hitlRequestId: id, capability, ...task };
}
