import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../platform/auth/access/principal.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Waiters } from '../../../platform/wake/waiters.js';
import { type Approval, ApproveRequestService, noteOf, notExecutable, type RefusedApproval } from './approve-request.service.js';
import { HitlRequestStore, type RequestToDecide, type RequestRef } from '../requests/hitl-request.store.js';
import { assertShown, type Decision, DecisionEligibilityService, type DecisionContext } from './decision-eligibility.service.js';
import { ApplyTransitionService } from '../requests/apply-transition.service.js';
import { planFor } from '../requests/request-plan.js';

/** Approves, rejects and cancels. Exactly one command ends a request; whoever comes later learns the state. */
@Injectable()
export class DecideRequestService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly requests: HitlRequestStore,
    private readonly judging: DecisionEligibilityService,
    private readonly approving: ApproveRequestService,
    private readonly moving: ApplyTransitionService,
    private readonly waiters: Waiters,
  ) {}

  /**
   * Approves the stored bytes, or those that are sent instead, after asking the gate anew: what the grant, the agent and the
   * definition allow now counts, not what they allowed when the request was made.
   *
   * @returns what comes of it
   * @throws Problem NOT_EXECUTABLE when it may no longer run (the request is then cancelled), or needs somebody of a higher level
   */
  async approve(id: string, decision: Decision, caller: Caller): Promise<Exclude<Approval, RefusedApproval>> {
    const ref = await this.requests.findRef(caller.scope, id);
    const approval = await this.within(ref, async (tx, standing) => {
      const outcome = await this.approving.approve(tx, standing, decision, caller);
      if (outcome === 'waits') tx.reply(200, { hitlRequestId: id, waits: true });
      else if (typeof outcome === 'object') tx.reply(409, outcome);
      return outcome;
    });
    this.wake(ref);
    if (typeof approval === 'object') throw notExecutable(approval);
    return approval;
  }

  async reject(id: string, decision: Decision, caller: Caller): Promise<void> {
    const ref = await this.requests.findRef(caller.scope, id);
    await this.within(ref, async (tx, standing) => {
      const { request, facts, record } = await this.judging.judge(tx, standing, 'reject', decision, caller);
      const command = { kind: 'reject', ...noteOf(decision) } as const;
      await this.moving.move(tx, { found: request, command, actorId: caller.actorId, record }, facts);
    });
    this.wake(ref);
  }

  /** Withdraws the question: by the agent that asked, or an administrator; the access table says who. */
  async cancel(id: string, decision: Decision, caller: Caller): Promise<void> {
    const ref = await this.requests.findRef(caller.scope, id);
    await this.work.runOn(planFor(ref), (tx) => this.requests.read(tx, ref), async (tx, request) => {
      replayedAs(tx, ref);
      // A late click is late whatever it was shown; whether the window is over, which stands still under a stop, the move knows.
      await this.moving.move(tx, { found: request, command: { kind: 'cancel', ...noteOf(decision) }, actorId: caller.actorId });
      assertShown(request, decision.expectedDigest);
    });
    this.wake(ref);
  }

  private within<Result>(ref: RequestToDecide, story: (tx: Tx, standing: DecisionContext) => Promise<Result>): Promise<Result> {
    return this.work.runOn(planFor(ref), (tx) => this.judging.read(tx, ref), (tx, standing) => {
      replayedAs(tx, ref);
      return story(tx, standing);
    });
  }

  private wake(ref: RequestRef): void {
    this.waiters.wake(ref.id);
    this.waiters.wake(ref.executionId);
  }
}

/** The kept answer is a note of what was decided; a replay shows the request as it then stands. */
function replayedAs(tx: Tx, { id }: RequestRef): void {
  tx.reply(200, { hitlRequestId: id });
}
