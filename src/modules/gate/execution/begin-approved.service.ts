import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../../domain/json.js';
import { pipelined } from '../../../platform/database/transaction/pipelined.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { ApprovedAction } from '../../../platform/outbox/effects.js';
import { type Facts, FactsQuery } from '../../authority/facts.query.js';
import type { ExecutionEntity } from '../../executions/execution.entity.js';
import { ExecutionStore } from '../../executions/execution.store.js';
import type { HitlRequestEntity } from '../../hitl/requests/hitl-request.entity.js';
import { HitlRequestStore } from '../../hitl/requests/hitl-request.store.js';
import { failedPrecondition, UNAVAILABLE } from '../../hitl/decisions/approval-precondition.js';
import type { StartedExecution } from '../admission/admission-item.js';
import { LEASE_GRACE_SECONDS } from '../admission/admission-plan.js';
import { type ApprovalEvidence, approvalEvidence } from './approval-evidence.query.js';
import { RunExecutionService } from './run-execution.service.js';
import { Deadline } from '../runtimes/deadline.js';

/** An approved action as it stands, read and locked under the head of its agent. */
export interface Approved {
  /** As it was left to be run. */
  readonly action: ApprovedAction;
  readonly execution: ExecutionEntity;
  readonly request: HitlRequestEntity;
  readonly facts: Facts;
  readonly standing: ApprovalEvidence;
}

/** What every beginning of an approved action has in common, the first and one after a crash. */
@Injectable()
export class BeginApprovedService {
  constructor(
    private readonly executions: ExecutionStore,
    private readonly requests: HitlRequestStore,
    private readonly facts: FactsQuery,
    private readonly running: RunExecutionService,
  ) {}

  /** All that is asked before an action begins, in one way to the database and back. @throws Problem NOT_FOUND */
  async read(tx: Tx, action: ApprovedAction): Promise<Approved> {
    const { organizationId, executionId, hitlRequestId } = action;
    const [execution, request, facts, standing] = await pipelined([
      this.executions.read(tx, { organizationId, id: executionId }),
      this.requests.read(tx, { organizationId, id: hitlRequestId }),
      this.facts.readWithin(tx, action, executionId),
      approvalEvidence(tx, organizationId, hitlRequestId),
    ]);
    if (execution.agentId !== action.agentId) throw new Error(`execution ${executionId} is not of agent ${action.agentId}`);
    return { action, execution, request, facts, standing };
  }

  /**
   * All that the approval rested on is asked again.
   *
   * @returns why it may not begin now, if so: a code for execution and entry
   * @throws Problem UNAVAILABLE where that passes by itself; whoever begins it tries again
   */
  hindrance({ action, execution, request, facts, standing }: Approved): string | undefined {
    // The facts are those of the capability that was left to be run.
    const isSame = isOf(execution, request) && request.capability === action.capability;
    if (!isSame || !standing.isInLog) return 'approval_mismatch';
    // A stop ends what was approved before it, also one that was lifted meanwhile: nobody approved it with that in mind.
    if (standing.wasHeld) return 'stopped';
    const obstacle = failedPrecondition(request, facts, request.deciderLevel);
    if (obstacle?.code === UNAVAILABLE) throw new Problem('UNAVAILABLE', obstacle.detail);
    if (obstacle !== undefined) return obstacle.code;
    // What is shown of the execution is what runs.
    return request.input === execution.input ? undefined : 'approval_mismatch';
  }

  /** Fence and lease in this commit; the runtime is called after it, with the bytes that were approved. */
  begin(tx: Tx, { execution, request, facts }: Approved): StartedExecution {
    const { organizationId, agentId, capability, action } = request;
    const { runtime, timeoutSeconds } = this.running.choose(facts.definition);
    const under = { runtime, grantId: facts.grant!.id, grantVersion: facts.grant!.version };
    const fence = this.executions.begin(tx, execution, under, timeoutSeconds + LEASE_GRACE_SECONDS);
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
