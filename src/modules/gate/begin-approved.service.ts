import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../domain/json.js';
import type { Tx } from '../../platform/database/tx.js';
import { type Facts, FactsQuery } from '../authority/facts.query.js';
import type { ExecutionEntity } from '../executions/execution.entity.js';
import { ExecutionStore } from '../executions/execution.store.js';
import type { HitlRequestEntity } from '../hitl/hitl-request.entity.js';
import { obstacleTo } from '../hitl/obstacle.js';
import type { StartedExecution } from './admission-item.js';
import { LEASE_GRACE_SECONDS } from './admission-plan.js';
import { approvalStanding } from './approval-standing.query.js';
import { RunExecutionService } from './run-execution.service.js';
import { Deadline } from './runtimes/deadline.js';

export interface Judged {
  readonly facts: Facts;
  /** Why it may not begin, if so: a code for execution and entry. */
  readonly hindrance?: string;
}

/** What every beginning of an approved action has in common, the first and one after a crash. */
@Injectable()
export class BeginApprovedService {
  constructor(
    private readonly executions: ExecutionStore,
    private readonly facts: FactsQuery,
    private readonly running: RunExecutionService,
  ) {}

  /** Whether it may begin now: all that the approval rested on is asked again, under the head of its agent. */
  async judge(tx: Tx, execution: ExecutionEntity, request: HitlRequestEntity): Promise<Judged> {
    const { organizationId, agentId, capability } = request;
    const facts = await this.facts.readWithin(tx, { organizationId, agentId, capability }, execution.id);
    const standing = await approvalStanding(tx, request);
    if (!isOf(execution, request) || !standing.isInLog) return { facts, hindrance: 'approval_mismatch' };
    // A stop ends what was approved before it, also one that was lifted meanwhile: nobody approved it with that in mind.
    if (standing.wasHeld) return { facts, hindrance: 'stopped' };
    const obstacle = obstacleTo(request, facts, request.deciderLevel);
    if (obstacle !== undefined) return { facts, hindrance: obstacle.code };
    // What is shown of the execution is what runs.
    return request.input === execution.input ? { facts } : { facts, hindrance: 'approval_mismatch' };
  }

  /** Fence and lease in this commit; the runtime is called after it, with the bytes that were approved. */
  async begin(tx: Tx, execution: ExecutionEntity, request: HitlRequestEntity, facts: Facts): Promise<StartedExecution> {
    const { organizationId, agentId, capability, action } = request;
    const { runtime, timeoutSeconds } = this.running.choose(facts.definition);
    const under = { runtime, grantId: facts.grant!.id, grantVersion: facts.grant!.version };
    const fence = await this.executions.begin(tx, execution, under, timeoutSeconds + LEASE_GRACE_SECONDS);
    return {
      organizationId, agentId, executionId: execution.id, fence, capability, input: JSON.parse(request.input) as JsonObject,
      inputText: request.input, flagged: execution.flagged, notify: false, hitlRequestId: request.id,
      deadline: Deadline.in(timeoutSeconds * 1000),
      ...(action === null ? {} : { action }),
      ...(request.context === null ? {} : { context: JSON.parse(request.context) as JsonObject }),
      ...(facts.definition?.connector ? { connector: facts.definition.connector } : {}),
      ...(execution.traceparent === null ? {} : { traceparent: execution.traceparent }),
    };
  }
}

/** One approval is for one execution, of the action that it was asked for. The input is the request's, which its digest covers. */
function isOf(execution: ExecutionEntity, request: HitlRequestEntity): boolean {
  return request.executionId === execution.id && execution.hitlRequestId === request.id && request.agentId === execution.agentId
    && request.capability === execution.capability && request.action === execution.action && request.context === execution.context;
}
