import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../../domain/json.js';
import { pipelined } from '../../../platform/database/transaction/pipelined.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { ApprovedAction } from '../../../platform/outbox/effects.js';
import type { Facts, FactsWithin } from '../../authority/facts.js';
import { FactsQuery } from '../../authority/facts.query.js';
import type { ExecutionEntity } from '../../executions/execution.entity.js';
import { ExecutionStore } from '../../executions/execution.store.js';
import type { HitlRequestEntity } from '../../hitl/requests/hitl-request.entity.js';
import { HitlRequestStore } from '../../hitl/requests/hitl-request.store.js';
import { failedPrecondition, UNAVAILABLE } from '../../hitl/decisions/approval-precondition.js';
import type { StartedExecution } from '../admission/admission-item.js';
import { LEASE_GRACE_SECONDS } from '../admission/admission-plan.js';
import { type ApprovalEvidence, approvalEvidence } from './approval-evidence.query.js';
import { Deadline } from '../runtimes/deadline.js';
import { RuntimeSelection } from '../runtimes/runtime-selection.js';

/** An approved action with its present rows and facts, read and locked under the head of its agent. */
export interface Approved {
  /** As the outbox has it. */
  readonly action: ApprovedAction;
  readonly execution: ExecutionEntity;
  readonly request: HitlRequestEntity;
  readonly facts: Facts;
  readonly evidence: ApprovalEvidence;
}

/** Every beginning of an approved action: the first, and one after a crash. */
@Injectable()
export class BeginApprovedService {
  constructor(
    private readonly executions: ExecutionStore,
    private readonly requests: HitlRequestStore,
    private readonly facts: FactsQuery,
    private readonly runtimes: RuntimeSelection,
  ) {}

  /** Reads all that an action's beginning depends on, in one round trip to the database. @throws Problem NOT_FOUND */
  async read(tx: Tx, action: ApprovedAction): Promise<Approved> {
    const { organizationId, executionId, hitlRequestId } = action;
    const [execution, request, facts, evidence] = await pipelined([
      this.executions.read(tx, { organizationId, id: executionId }),
      this.requests.read(tx, { organizationId, id: hitlRequestId }),
      this.facts.readWithin(tx, wantedOf(action), executionId),
      approvalEvidence(tx, organizationId, hitlRequestId),
    ]);
    if (execution.agentId !== action.agentId) throw new Error(`execution ${executionId} is not of agent ${action.agentId}`);
    const runtime = this.runtimes.keptBy(execution.runtime, facts.runtime);
    return { action, execution, request, facts: { ...facts, runtime }, evidence };
  }

  /**
   * Checks again all that the approval rested on.
   *
   * @returns why the action may not begin, as a code for execution and entry; undefined where it may
   * @throws Problem UNAVAILABLE where the reason passes by itself; the caller tries again
   */
  hindrance({ action, execution, request, facts, evidence }: Approved): string | undefined {
    // The facts were read for the capability that the outbox names.
    const isSame = isOf(execution, request) && request.capability === action.capability && isOfTask(action, request);
    if (!isSame || !evidence.isInLog) return 'approval_mismatch';
    // A stop ends approvals that were given before it, even where the stop was lifted since: nobody gave them with the stop in mind.
    if (evidence.wasStopped) return 'stopped';
    const failed = failedPrecondition(request, facts, request.deciderLevel);
    if (failed?.code === UNAVAILABLE) throw new Problem('UNAVAILABLE', failed.detail);
    if (failed !== undefined) return failed.code;
    // The input that the execution shows is the input that runs.
    return request.input === execution.input ? undefined : 'approval_mismatch';
  }

  /** Writes fence and lease. The runtime is called after the commit, with the bytes that were approved. */
  begin(tx: Tx, { execution, request, facts }: Approved): StartedExecution {
    const { organizationId, agentId, capability, action } = request;
    const { runtime, timeoutSeconds } = facts.runtime;
    const under = { runtime, grantId: facts.grant!.id, grantVersion: facts.grant!.version };
    const fence = this.executions.begin(tx, execution, under, timeoutSeconds + LEASE_GRACE_SECONDS);
    return {
      organizationId, agentId, executionId: execution.id, fence, capability, input: JSON.parse(request.input) as JsonObject,
      inputText: request.input, flagged: execution.flagged, notify: false, hitlRequestId: request.id,
      deadline: Deadline.in(timeoutSeconds * 1000),
      ...(action === null ? {} : { action }),
      ...(request.context === null ? {} : { context: JSON.parse(request.context) as JsonObject }),
      ...(facts.definition?.connector ? { connector: facts.definition.connector } : {}),
      ...(this.runtimes.isNamed(runtime) ? { runtime } : {}),
      ...(execution.traceparent === null ? {} : { traceparent: execution.traceparent }),
    };
  }
}

function wantedOf({ taskId, taskChain = [], ...action }: ApprovedAction): FactsWithin {
  return { ...action, ...(taskId === undefined ? {} : { task: { id: taskId, chain: taskChain } }) };
}

/** The heads that were locked are those of the request's chain. */
function isOfTask({ taskId, taskChain = [] }: ApprovedAction, request: HitlRequestEntity): boolean {
  return (taskId ?? null) === request.taskId && taskChain.join() === (request.taskChain ?? []).join();
}

/** An approval is for one execution, of the action that was asked about. The input is compared apart: the digest covers the request's. */
function isOf(execution: ExecutionEntity, request: HitlRequestEntity): boolean {
  return request.executionId === execution.id && execution.hitlRequestId === request.id && request.agentId === execution.agentId
    && request.capability === execution.capability && request.action === execution.action && request.context === execution.context
    && request.taskId === execution.taskId && (request.taskChain ?? []).join() === (execution.taskChain ?? []).join();
}
