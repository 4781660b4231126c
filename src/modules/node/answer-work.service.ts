import { Injectable } from '@nestjs/common';
import { jcs } from '../../domain/audit/entry/jcs.js';
import { agentChain } from '../../domain/audit/entry/chain.js';
import type { JsonValue } from '../../domain/json.js';
import { recordsNothing } from '../../platform/auth/access/call-context.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { SealedBox } from '../../platform/secrets/sealed-box.js';
import { Waiters } from '../../platform/wake/waiters.js';
import { closeWithin, subjectOf } from '../executions/closing/close-within.js';
import { type End, lateEvent } from '../executions/closing/closing-events.js';
import type { ExecutionEntity } from '../executions/execution.entity.js';
import { ExecutionStore } from '../executions/execution.store.js';
import { planFor } from '../hitl/requests/request-plan.js';
import { type NodeRef, NodeWorkStore, type Work } from './node-work.store.js';
import { ownWork, StartWorkService } from './start-work.service.js';

/** What a node says of work that it has done, or failed at. */
export type NodeResult = Pick<End, 'status' | 'output' | 'error'>;

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
  async answer(executionId: string, fence: number, result: NodeResult, node: NodeRef): Promise<TakenResult> {
    const ref = { organizationId: node.organizationId, executionId };
    const answer = this.box.mac('node-results', executionId, String(fence), jcs({ ...result } as unknown as JsonValue));
    const taken = await this.units.runOn(planFor(node), (tx) => this.starting.read(tx, ref), async (tx, read) => {
      const { work, execution } = ownWork(read, node);
      if (work.fence !== fence) throw new Problem('CONFLICT', 'This is not the newest lease of the work: another has taken it since.');
      if (work.status === 'answered') return { isLate: sameAsBefore(work, answer), isAgain: true, execution };
      if (work.startedAt === null) throw new Problem('CONFLICT', 'The work was not started by this lease.');
      // It waits for another node by now, which may come to know more.
      if (work.status !== 'started' && result.status === 'indeterminate') throw new Problem('CONFLICT', 'The work has begun again.');
      return { isLate: await this.take(tx, work, execution, { result, answer }), isAgain: false, execution };
    });
    const { isLate, isAgain, execution } = taken;
    if (isAgain) recordsNothing();
    this.waiters.wake(executionId);
    if (execution.hitlRequestId !== null) this.waiters.wake(execution.hitlRequestId);
    return { isLate };
  }

  private async take(
    tx: Tx, work: Work, execution: ExecutionEntity, { result, answer }: { result: NodeResult; answer: string },
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

/** @returns whether it was late. @throws Problem CONFLICT for another result */
function sameAsBefore(work: Work, answer: string): boolean {
  if (work.answer === answer) return work.isLate;
  throw new Problem('CONFLICT', 'The work has been answered, with another result.');
}
