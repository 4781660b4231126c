import { Injectable } from '@nestjs/common';
import { levelAbove } from '../../../domain/hitl/transition.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { EligibleDecidersQuery } from '../queue/eligible-deciders.query.js';
import { ApplyTransitionService } from '../requests/apply-transition.service.js';
import { RequestWork } from '../requests/request-work.service.js';
import { DecisionEligibilityService } from './decision-eligibility.service.js';

export interface Escalation {
  reason: string;
  /** A user who may decide at the next level. */
  escalateTo?: string;
  expectedDigest?: string;
}

/** Escalates a request to the next level. Every eligible decider may escalate, initiators of the action too. */
@Injectable()
export class EscalateRequestService {
  constructor(
    private readonly requests: RequestWork,
    private readonly eligibility: DecisionEligibilityService,
    private readonly deciders: EligibleDecidersQuery,
    private readonly transitions: ApplyTransitionService,
  ) {}

  /** @throws Problem ESCALATION_LIMIT at the highest level, TARGET_NOT_ELIGIBLE, and what a decision throws */
  async escalate(id: string, { reason, escalateTo, expectedDigest }: Escalation, caller: Caller): Promise<void> {
    await this.requests.run(caller.scope, id, (tx, ref) => this.eligibility.read(tx, ref), async (tx, context) => {
      const shown = expectedDigest === undefined ? {} : { expectedDigest };
      const { request, facts, record } = await this.eligibility.authorize(tx, context, 'escalate', shown, caller);
      const level = levelAbove(request.escalationLevel);
      if (escalateTo !== undefined && !(await this.deciders.mayApproveAt(tx, { ...request, level }, escalateTo))) {
        throw new Problem('TARGET_NOT_ELIGIBLE', `Name somebody of the organization who may approve this request at level ${level}.`, {
          errors: [{ pointer: '/escalateTo', message: 'names nobody who may decide there' }],
        });
      }
      const command = { kind: 'escalate', reason, ...(escalateTo === undefined ? {} : { to: escalateTo }) } as const;
      await this.transitions.apply(tx, { request, command, actorId: caller.actorId, record }, facts);
    });
  }
}
