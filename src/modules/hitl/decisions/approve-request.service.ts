import { Injectable } from '@nestjs/common';
import { basisOf } from '../../../domain/audit/catalogue/basis.js';
import { HIGHEST_LEVEL, type HitlCommand } from '../../../domain/hitl/transition.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { CountVotesService } from './count-votes.service.js';
import { EditRequestService } from './edit-request.service.js';
import { assertDecidable, type Decision, type EligibleDecision, DecisionEligibilityService, type DecisionContext } from './decision-eligibility.service.js';
import { ReceiptExecutionService } from '../requests/receipt-execution.service.js';
import { ApplyTransitionService } from '../requests/apply-transition.service.js';
import { ESCALATION_NEEDED, type FailedPrecondition, failedPrecondition, UNAVAILABLE } from './approval-precondition.js';

/** Up to which level a batch approves. */
const BATCH_LEVEL = 1;

/** An approval that changed something else than it asked for: as the idempotency record keeps it. */
export interface RefusedApproval {
  detail: string;
  request: { id: string; status: string; decidedBy: string | null; decidedAt: string | null };
}

/** `runs`: its runtime has it soon. `waits`: others still have to decide; it was one vote of several, or an edit that decides nothing. */
export type Approval = 'runs' | 'done' | 'waits' | RefusedApproval;

/** What becomes of an approval, within a unit of work: an edit first where one is sent, then the vote, then what runs. */
@Injectable()
export class ApproveRequestService {
  constructor(
    private readonly judging: DecisionEligibilityService,
    private readonly edits: EditRequestService,
    private readonly counting: CountVotesService,
    private readonly moving: ApplyTransitionService,
    private readonly licences: ReceiptExecutionService,
  ) {}

  async approve(tx: Tx, standing: DecisionContext, decision: Decision, caller: Caller): Promise<Approval> {
    assertDecidable(standing, 'approve', decision);
    const text = this.edits.textOf(standing, decision);
    if (text !== undefined) return this.edit(tx, standing, text, decision, caller);
    return this.decide(tx, await this.judging.mayDecide(tx, standing, 'approve', decision, caller), decision, caller);
  }

  /** Where it decides nothing, whoever may decide at this level may edit, also who may not approve. */
  private async edit(tx: Tx, standing: DecisionContext, text: string, decision: Decision, caller: Caller): Promise<Approval> {
    const { record } = await this.judging.mayDecide(tx, standing, 'edit', decision, caller);
    const wanted = this.edits.assess(standing, text);
    if ('obstacle' in wanted) return this.refuse(tx, standing, wanted.obstacle);
    if (!wanted.decides) {
      await this.edits.edit(tx, standing, wanted, caller.actorId, record);
      return 'waits';
    }
    // Judged by the version that was shown: whoever edits is behind the next one, and may approve it in this call only.
    const judged = await this.judging.mayDecide(tx, standing, 'approve', decision, caller);
    const request = await this.edits.edit(tx, standing, wanted, caller.actorId, judged.record);
    return this.decide(tx, { ...judged, request }, decision, caller);
  }

  private async decide(tx: Tx, judged: EligibleDecision, decision: Decision, caller: Caller): Promise<Approval> {
    const { request, facts, may } = judged;
    // A batch approves nothing that an admin has to look at, also where that is so only by now.
    const level = decision.inBatch ? BATCH_LEVEL : may.highestLevel;
    const obstacle = failedPrecondition(request, facts, level);
    if (obstacle !== undefined) return this.refuse(tx, judged, obstacle);
    const weighed = await this.counting.weigh(tx, judged, decision);
    const by = { actorId: caller.actorId, record: { ...judged.record, ...(weighed.voters ? { voters: weighed.voters } : {}) } };
    const vote = { voter: caller.actorId, note: decision.note ?? null };
    if (!weighed.decides) {
      const { approvals, needed } = weighed.tally;
      const command: HitlCommand = { kind: 'vote', approvals, needed, ...noteOf(decision) };
      const { entryId } = await this.moving.move(tx, { found: request, command, ...by }, facts);
      await this.counting.keep(tx, request, { ...vote, entryId });
      return 'waits';
    }
    const { deciderLevel, breakGlass } = weighed;
    const command: HitlCommand = { kind: 'approve', deciderLevel, ...noteOf(decision), ...(breakGlass ? { breakGlass } : {}) };
    const { request: approved, entryId } = await this.moving.move(tx, { found: request, command, ...by }, facts);
    if (weighed.vote) await this.counting.keep(tx, approved, { ...vote, entryId });
    return this.licences.carryOut(tx, approved, facts);
  }

  /** What may no longer run ends here; what somebody of a higher level may still approve goes to them. */
  private async refuse(tx: Tx, { request, facts }: DecisionContext, { code, detail }: FailedPrecondition): Promise<RefusedApproval> {
    if (code === UNAVAILABLE) throw new Problem('UNAVAILABLE', detail, { headers: { 'Retry-After': '30' } });
    const command: HitlCommand = code === ESCALATION_NEEDED
      ? { kind: 'escalate', reason: detail, toLevel: HIGHEST_LEVEL, by: 'system' }
      : { kind: 'cancel', by: 'system' };
    const record = { basis: basisOf(facts) };
    const moved = await this.moving.move(tx, { found: request, command, actorId: 'system', cause: code, record }, facts);
    const { id, status, decidedBy, decidedAt } = moved.request;
    return { detail, request: { id, status, decidedBy, decidedAt: decidedAt?.toISOString() ?? null } };
  }
}

export const noteOf = ({ note }: Decision) => (note === undefined ? {} : { note });

/** @param headers of a replay */
export function notExecutable({ detail, request }: RefusedApproval, headers: Record<string, string> = {}): Problem {
  return new Problem('NOT_EXECUTABLE', `${detail} The request is ${request.status}.`, { headers, members: { request } });
}
