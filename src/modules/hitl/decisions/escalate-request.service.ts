import { Injectable } from '@nestjs/common';
import { levelAbove } from '../../../domain/hitl/transition.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { Waiters } from '../../../platform/wake/waiters.js';
import { EligibleDecidersQuery } from '../queue/eligible-deciders.query.js';
import { HitlRequestStore } from '../requests/hitl-request.store.js';
import { DecisionEligibilityService } from './decision-eligibility.service.js';
import { ApplyTransitionService } from '../requests/apply-transition.service.js';
import { planFor } from '../requests/request-plan.js';

export interface Escalation {
  reason: string;
  /** A user who may decide at the next level. */
  escalateTo?: string;
  expectedDigest?: string;
}

/** Hands a request on to the next level. Whoever may decide it may do so, whoever is behind the action included. */
@Injectable()
export class EscalateRequestService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly requests: HitlRequestStore,
    private readonly judging: DecisionEligibilityService,
    private readonly eligible: EligibleDecidersQuery,
    private readonly moving: ApplyTransitionService,
    private readonly waiters: Waiters,
  ) {}

  /** @throws Problem ESCALATION_LIMIT at the highest level, TARGET_NOT_ELIGIBLE, and what a decision throws */
  async escalate(id: string, { reason, escalateTo, expectedDigest }: Escalation, caller: Caller): Promise<void> {
    const ref = await this.requests.findRef(caller.scope, id);
    await this.work.runOn(planFor(ref), (tx) => this.judging.read(tx, ref), async (tx, standing) => {
      tx.reply(200, { hitlRequestId: ref.id });
      const shown = expectedDigest === undefined ? {} : { expectedDigest };
      const { request, facts, record } = await this.judging.judge(tx, standing, 'escalate', shown, caller);
      const level = levelAbove(request.escalationLevel);
      if (escalateTo !== undefined && !(await this.eligible.mayApproveAt(tx, { ...ref, level }, escalateTo))) {
        throw new Problem('TARGET_NOT_ELIGIBLE', `Name somebody of the organization who may approve this request at level ${level}.`, {
          errors: [{ pointer: '/escalateTo', message: 'names nobody who may decide there' }],
        });
      }
      const to = escalateTo === undefined ? {} : { to: escalateTo };
      const command = { kind: 'escalate', reason, ...to } as const;
      await this.moving.move(tx, { found: request, command, actorId: caller.actorId, record }, facts);
    });
    this.waiters.wake(ref.id);
  }
}
