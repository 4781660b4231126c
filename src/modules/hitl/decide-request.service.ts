import { Injectable } from '@nestjs/common';
import { agentChain } from '../../domain/audit/chain.js';
import { HIGHEST_LEVEL, type HitlCommand, isOpen } from '../../domain/hitl/transition.js';
import type { Caller } from '../../platform/auth/principal.js';
import type { Tx } from '../../platform/database/tx.js';
import { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Problem } from '../../platform/http/problem.js';
import { Waiters } from '../../platform/wake/waiters.js';
import type { HitlRequestEntity } from './hitl-request.entity.js';
import { HitlRequestStore, type RequestPlace } from './hitl-request.store.js';
import { assertShown, type Decision, JudgeDecisionService } from './judge-decision.service.js';
import { LicenceService } from './licence.service.js';
import { MoveRequestService, refusalOf } from './move-request.service.js';
import { ESCALATION_NEEDED, type Obstacle, obstacleTo } from './obstacle.js';

/** Approves, rejects and cancels. Exactly one command ends a request; whoever comes later learns the state. */
@Injectable()
export class DecideRequestService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly requests: HitlRequestStore,
    private readonly judging: JudgeDecisionService,
    private readonly moving: MoveRequestService,
    private readonly licences: LicenceService,
    private readonly waiters: Waiters,
  ) {}

  /**
   * Approves the stored bytes, after asking the gate anew: what the grant, the agent and the definition allow now counts,
   * not what they allowed when the request was made.
   *
   * @throws Problem NOT_EXECUTABLE when it may no longer run (the request is then cancelled), or needs somebody of a higher level
   */
  async approve(id: string, decision: Decision, caller: Caller): Promise<void> {
    const place = await this.requests.place(caller.scope, id);
    const refused = await this.within(place, async (tx) => {
      const { request, facts, may } = await this.judging.judge(tx, place, 'approve', decision, caller);
      const obstacle = obstacleTo(request, facts, may.highestLevel);
      if (obstacle !== undefined) return this.refuse(tx, request, obstacle);
      const approved = await this.end(
        tx,
        request,
        { kind: 'approve', deciderLevel: may.highestLevel, ...noteOf(decision), ...(may.breakGlass ? { breakGlass: true } : {}) },
        caller.actorId,
      );
      await this.licences.carryOut(tx, approved, facts);
      return undefined;
    });
    this.wake(place);
    if (refused) throw notExecutable(refused);
  }

  async reject(id: string, decision: Decision, caller: Caller): Promise<void> {
    const place = await this.requests.place(caller.scope, id);
    await this.within(place, async (tx) => {
      const { request } = await this.judging.judge(tx, place, 'reject', decision, caller);
      await this.end(tx, request, { kind: 'reject', ...noteOf(decision) }, caller.actorId);
    });
    this.wake(place);
  }

  /** Withdraws the question: by the agent that asked, or an administrator; the access table says who. */
  async cancel(id: string, decision: Decision, caller: Caller): Promise<void> {
    const place = await this.requests.place(caller.scope, id);
    await this.within(place, async (tx) => {
      const request = await this.requests.read(tx, place);
      // By the clock alone the window may be over: while a stop holds, it stands still, which the move knows.
      if (isOpen(request.status)) assertShown(request, decision.expectedDigest);
      await this.end(tx, request, { kind: 'cancel', ...noteOf(decision) }, caller.actorId);
    });
    this.wake(place);
  }

  private within<Result>(place: RequestPlace, story: (tx: Tx) => Promise<Result>): Promise<Result> {
    const chains = [agentChain(place.organizationId, place.agentId)];
    // Of an agent that has left every request is ended, and whoever decides on one is told so.
    return this.work.run({ chains, judges: [place.organizationId], leavesFacts: true, evenIfClosed: true }, async (tx) => {
      // The kept answer is a note of what was decided; a replay shows the request as it then stands.
      tx.reply(200, { hitlRequestId: place.id });
      return story(tx);
    });
  }

  /** What may no longer run ends here; what somebody of a higher level may still approve goes to them. */
  private async refuse(tx: Tx, request: HitlRequestEntity, { code, detail }: Obstacle): Promise<RefusedApproval> {
    const command: HitlCommand = code === ESCALATION_NEEDED
      ? { kind: 'escalate', reason: detail, toLevel: HIGHEST_LEVEL, by: 'system' }
      : { kind: 'cancel', by: 'system' };
    const { id, status, decidedBy, decidedAt } = await this.end(tx, request, command, 'system', code);
    const refused: RefusedApproval = { detail, request: { id, status, decidedBy, decidedAt: decidedAt?.toISOString() ?? null } };
    tx.reply(409, refused);
    return refused;
  }

  private async end(tx: Tx, request: HitlRequestEntity, command: HitlCommand, actorId: string, cause?: string): Promise<HitlRequestEntity> {
    const moved = await this.moving.move(tx, request, command, actorId, cause);
    if ('kind' in moved) throw refusalOf(moved, request);
    return moved.request;
  }

  private wake(place: RequestPlace): void {
    this.waiters.wake(place.id);
    this.waiters.wake(place.executionId);
  }
}

const noteOf = ({ note }: Decision) => (note === undefined ? {} : { note });

/** An approval that changed something else than it asked for: as the idempotency record keeps it. */
export interface RefusedApproval {
  detail: string;
  request: { id: string; status: string; decidedBy: string | null; decidedAt: string | null };
}

/** @param headers of a replay */
export function notExecutable({ detail, request }: RefusedApproval, headers: Record<string, string> = {}): Problem {
  return new Problem('NOT_EXECUTABLE', `${detail} The request is ${request.status}.`, { headers, members: { request } });
}
