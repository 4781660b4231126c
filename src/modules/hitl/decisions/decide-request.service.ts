import { Injectable } from '@nestjs/common';
import { basisOf } from '../../../domain/audit/catalogue/basis.js';
import { HIGHEST_LEVEL, type HitlCommand } from '../../../domain/hitl/transition.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { delegatorsOf } from '../../executions/started-event.js';
import { ApplyTransitionService } from '../requests/apply-transition.service.js';
import { ReceiptExecutionService } from '../requests/receipt-execution.service.js';
import { notExecutable, type RefusedApproval, summaryOf } from '../requests/refusals.js';
import { RequestWork } from '../requests/request-work.service.js';
import { ESCALATION_NEEDED, type FailedPrecondition, failedPrecondition, UNAVAILABLE } from './approval-precondition.js';
import { assertDecidable, assertShown } from './assert-decidable.js';
import { CountVotesService } from './count-votes.service.js';
import { type Decision, type DecisionContext, noteOf } from './decision.js';
import { DecisionEligibilityService, type EligibleDecision } from './decision-eligibility.service.js';
import { EditRequestService } from './edit-request.service.js';

/** The highest level that a batch approves. */
const BATCH_LEVEL = 1;

/**
 * `runs`: the runtime will execute the action soon. `done`: the licence is given. `waits`: other people still have to decide, because the
 * approval was one vote of several, or an edit that decides nothing.
 */
export type Approval = 'runs' | 'done' | 'waits';

/** Approves, rejects and cancels. Exactly one command ends a request; later ones are answered with its status. */
@Injectable()
export class DecideRequestService {
  constructor(
    private readonly requests: RequestWork,
    private readonly eligibility: DecisionEligibilityService,
    private readonly edits: EditRequestService,
    private readonly votes: CountVotesService,
    private readonly transitions: ApplyTransitionService,
    private readonly receipts: ReceiptExecutionService,
  ) {}

  /**
   * Approves the stored input, or the edited one that is sent, after asking the gate again: the present grant, agent and definition
   * count, not those of the time when the request was made.
   *
   * @throws Problem NOT_EXECUTABLE when the action may no longer run (the request is then cancelled), or needs a decider of a higher
   * level (the request is then escalated); and what `assertDecidable` and the eligibility of the caller throw
   */
  async approve(id: string, decision: Decision, caller: Caller): Promise<Approval> {
    const approval = await this.decide(id, caller, async (tx, context) => {
      const outcome = await this.approveOrEdit(tx, context, decision, caller);
      if (outcome === 'waits') tx.reply(200, { hitlRequestId: id, waits: true });
      else if (typeof outcome === 'object') tx.reply(409, outcome);
      return outcome;
    });
    if (typeof approval === 'object') throw notExecutable(approval);
    return approval;
  }

  async reject(id: string, decision: Decision, caller: Caller): Promise<void> {
    await this.decide(id, caller, async (tx, context) => {
      const { request, facts, record } = await this.eligibility.authorize(tx, context, 'reject', decision, caller);
      const command = { kind: 'reject', ...noteOf(decision) } as const;
      await this.transitions.apply(tx, { request, command, actorId: caller.actorId, record }, facts);
    });
  }

  /** Withdraws the request: by the agent that asked, or an administrator; the access table says who. */
  async cancel(id: string, decision: Decision, caller: Caller): Promise<void> {
    await this.requests.runOnRow(caller.scope, id, async (tx, request) => {
      // The transition comes first: a late cancellation is late, whichever version was shown, and a stop pauses the deadline.
      await this.transitions.apply(tx, { request, command: { kind: 'cancel', ...noteOf(decision) }, actorId: caller.actorId });
      assertShown(request, decision.expectedDigest);
    });
  }

  private decide<Result>(id: string, caller: Caller, act: (tx: Tx, context: DecisionContext) => Promise<Result>): Promise<Result> {
    return this.requests.run(caller.scope, id, (tx, ref) => this.eligibility.read(tx, ref), act);
  }

  private async approveOrEdit(tx: Tx, context: DecisionContext, decision: Decision, caller: Caller): Promise<Approval | RefusedApproval> {
    assertDecidable(context, 'approve', decision);
    const text = this.edits.textOf(context, decision);
    if (text !== undefined) return this.edit(tx, context, text, decision, caller);
    return this.vote(tx, await this.eligibility.authorizeDecider(tx, context, 'approve', decision, caller), decision, caller);
  }

  /** An edit that decides nothing needs no right to approve, only the right to decide at this level. */
  private async edit(
    tx: Tx, context: DecisionContext, text: string, decision: Decision, caller: Caller,
  ): Promise<Approval | RefusedApproval> {
    const { record } = await this.eligibility.authorizeDecider(tx, context, 'edit', decision, caller);
    const wanted = this.edits.assess(context, text);
    if ('failed' in wanted) return this.refuse(tx, context, wanted.failed);
    if (!wanted.decides) {
      await this.edits.edit(tx, context, wanted, caller.actorId, record);
      return 'waits';
    }
    // Authorized for the version that was shown: the editor is an initiator of the next one, and may approve it in this call only.
    const eligible = await this.eligibility.authorizeDecider(tx, context, 'approve', decision, caller);
    const request = await this.edits.edit(tx, context, wanted, caller.actorId, eligible.record);
    return this.vote(tx, { ...eligible, request }, decision, caller);
  }

  /** Counts the approval; where it decides, the action runs. */
  private async vote(tx: Tx, eligible: EligibleDecision, decision: Decision, caller: Caller): Promise<Approval | RefusedApproval> {
    const { request, facts, may } = eligible;
    // A batch does not approve for an admin, also where the gate asks for one only by now.
    const failed = failedPrecondition(request, facts, decision.inBatch ? BATCH_LEVEL : may.highestLevel);
    if (failed !== undefined) return this.refuse(tx, eligible, failed);
    const counted = await this.votes.count(tx, eligible, decision);
    const by = { actorId: caller.actorId, record: { ...eligible.record, ...(counted.voters ? { voters: counted.voters } : {}) } };
    const vote = { voter: caller.actorId, note: decision.note ?? null };
    if (!counted.decides) {
      const { approvals, needed } = counted.tally;
      const command: HitlCommand = { kind: 'vote', approvals, needed, ...noteOf(decision) };
      const { entryId } = await this.transitions.apply(tx, { request, command, ...by }, facts);
      await this.votes.keep(tx, request, { ...vote, entryId });
      return 'waits';
    }
    const { deciderLevel, breakGlass } = counted;
    const command: HitlCommand = { kind: 'approve', deciderLevel, ...noteOf(decision), ...(breakGlass ? { breakGlass } : {}) };
    const { request: approved, entryId } = await this.transitions.apply(tx, { request, command, ...by }, facts);
    if (counted.vote) await this.votes.keep(tx, approved, { ...vote, entryId });
    return this.receipts.carryOut(tx, approved, facts);
  }

  /** Escalates a request that somebody of a higher level may still approve, and cancels one whose action may no longer run. */
  private async refuse(tx: Tx, { request, facts }: DecisionContext, { code, detail }: FailedPrecondition): Promise<RefusedApproval> {
    if (code === UNAVAILABLE) throw new Problem('UNAVAILABLE', detail, { headers: { 'Retry-After': '30' } });
    const command: HitlCommand = code === ESCALATION_NEEDED
      ? { kind: 'escalate', reason: detail, toLevel: HIGHEST_LEVEL, by: 'system' }
      : { kind: 'cancel', by: 'system' };
    const record = { basis: basisOf(facts), ...delegatorsOf(facts.task?.delegators) };
    const applied = await this.transitions.apply(tx, { request, command, actorId: 'system', cause: code, record }, facts);
    return { detail, request: summaryOf(applied.request) };
  }
}
