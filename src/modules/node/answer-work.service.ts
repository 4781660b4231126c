import { Injectable } from '@nestjs/common';
import { jcs } from '../../domain/audit/entry/jcs.js';
import { agentChain } from '../../domain/audit/entry/chain.js';
import { newId } from '../../domain/ids.js';
import type { JsonValue } from '../../domain/json.js';
import { recordsNothing } from '../../platform/auth/access/call-context.js';
import type { AgentPrincipal } from '../../platform/auth/access/principal.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { requestContext } from '../../platform/http/request/request-context.js';
import { SealedBox } from '../../platform/secrets/sealed-box.js';
import { Waiters } from '../../platform/wake/waiters.js';
import { closeWithin, subjectOf } from '../executions/closing/close-within.js';
import { type End, lateEvent } from '../executions/closing/closing-events.js';
import type { ExecutionEntity } from '../executions/execution.entity.js';
import { ExecutionStore } from '../executions/execution.store.js';
import { type ClosedExecution, closingOf } from '../gate/execution/closing-batch.js';
import { planFor } from '../hitl/requests/request-plan.js';
import { NodeWorkStore } from './node-work.store.js';
import { type FoundWork, isAt, ownWork, StartWorkService } from './start-work.service.js';
import type { Work } from './work.js';

/** What a node says of work that it has done, or failed at. */
export type NodeResult = Pick<End, 'status' | 'output' | 'error'>;

/** A result and its keyed digest. */
interface Said {
  readonly result: NodeResult;
  readonly answer: string;
}

export interface TakenResult {
  /** The execution had its end already; the result stands beside it in the log. */
  readonly isLate: boolean;
}

/**
 * Takes a node's result: it closes the execution in the same commit, on whichever server it comes in. So an answer that was taken cannot
 * be lost by any server's death, and no recovery finds one that did not count.
 */
@Injectable()
export class AnswerWorkService {
  constructor(
    private readonly units: UnitOfWork,
    private readonly store: NodeWorkStore,
    private readonly executions: ExecutionStore,
    private readonly starting: StartWorkService,
    private readonly box: SealedBox,
    private readonly waiters: Waiters,
  ) {}

  /** @throws Problem NOT_FOUND for what is no work of this agent; CONFLICT for another lease's, or for another result than the first */
  async answer(executionId: string, fence: number, result: NodeResult, node: AgentPrincipal): Promise<TakenResult> {
    const ref = { organizationId: node.organizationId, executionId };
    const answer = this.box.mac('node-results', executionId, String(fence), jcs({ ...result } as unknown as JsonValue));
    const closed = await this.answerInBatch(await this.starting.find(ref), fence, { result, answer }, node);
    const taken = closed ? { isLate: false, isAgain: false, execution: closed }
      : await this.answerAlone(ref, fence, { result, answer }, node);
    const { isLate, isAgain, execution } = taken;
    if (isAgain) recordsNothing();
    this.waiters.wake(executionId);
    if (execution.hitlRequestId !== null) this.waiters.wake(execution.hitlRequestId);
    return { isLate };
  }

  private answerAlone(
    ref: { organizationId: string; executionId: string }, fence: number, { result, answer }: Said, node: AgentPrincipal,
  ): Promise<TakenResult & { readonly isAgain: boolean; readonly execution: ExecutionEntity }> {
    return this.units.runOn(planFor(node), (tx) => this.starting.read(tx, ref), async (tx, read) => {
      const { work, execution } = ownWork(read, node);
      if (work.fence !== fence) throw new Problem('CONFLICT', 'This is not the newest lease of the work: another has taken it since.');
      if (work.status === 'answered') return { isLate: sameAsBefore(work, answer), isAgain: true, execution };
      if (work.startedAt === null) throw new Problem('CONFLICT', 'The work was not started by this lease.');
      // It waits for another node by now, which may come to know more.
      if (work.status !== 'started' && result.status === 'indeterminate') throw new Problem('CONFLICT', 'The work has begun again.');
      return { isLate: await this.take(tx, work, execution, { result, answer }), isAgain: false, execution };
    });
  }

  /** With those of other nodes, where it is of started work of an execution that runs. @returns the execution that it has closed */
  private async answerInBatch(
    { work, execution }: FoundWork, fence: number, { result, answer }: Said, node: AgentPrincipal,
  ): Promise<ExecutionEntity | undefined> {
    if (work?.agentId !== node.agentId || execution === undefined) return undefined;
    if (work.status !== 'started' || work.fence !== fence || work.startedAt === null || !isAt(work, execution)) return undefined;
    const durationMs = Math.max(0, work.readAt.getTime() - work.startedAt.getTime());
    const closing = closingOf(closedExecution(execution), { ...result, auditId: newId('audit'), durationMs }, execution.runtime);
    if ((await this.store.batches.answer({ node, work, answer, closing })) !== 'ok') return undefined;
    const context = requestContext.getStore();
    if (context) context.recorded += closing.entries.length;
    return execution;
  }

  private async take(
    tx: Tx, work: Work, execution: ExecutionEntity, { result, answer }: Said,
  ): Promise<boolean> {
    const now = await tx.now();
    const end: End = { ...result, durationMs: Math.max(0, now.getTime() - (work.startedAt ?? now).getTime()) };
    // Past its deadline too, and when the execution has begun again and nobody has leased that, it is in time while nobody has said
    // otherwise: what is known is better than that nobody knows.
    const isLate = execution.status !== 'running';
    this.store.answer(tx, work, answer, isLate);
    if (!isLate) await closeWithin(tx, this.executions, execution, end);
    else tx.record(tx.chainNow(agentChain(execution.organizationId, execution.agentId)), lateEvent(subjectOf(execution), end));
    return isLate;
  }
}

function closedExecution(execution: ExecutionEntity): ClosedExecution {
  const { organizationId, agentId, id, capability, fence, flagged, hitlRequestId, effectiveMode, traceparent } = execution;
  return {
    organizationId, agentId, executionId: id, capability, fence, flagged, notify: effectiveMode === 'notify' && hitlRequestId === null,
    ...(hitlRequestId === null ? {} : { hitlRequestId }), ...(traceparent === null ? {} : { traceparent }),
  };
}

/** @returns whether it was late. @throws Problem CONFLICT for another result */
function sameAsBefore(work: Work, answer: string): boolean {
  if (work.answer === answer) return work.isLate;
  throw new Problem('CONFLICT', 'The work has been answered, with another result.');
}
