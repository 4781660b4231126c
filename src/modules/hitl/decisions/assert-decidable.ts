import { sameDigest } from '../../../domain/hitl/digest.js';
import type { DutyCommand } from '../../../domain/hitl/duties.js';
import { HIGHEST_LEVEL, isOpen, whyClosed } from '../../../domain/hitl/transition.js';
import { stateOf } from '../requests/apply-transition.service.js';
import type { HitlRequestEntity } from '../requests/hitl-request.entity.js';
import { digestMissing, notAsShown, refusalOf, stopProblem, tooHighForBatch } from '../requests/refusals.js';
import type { Decision, DecisionContext } from './decision.js';

/**
 * Refuses a decision that nobody may make now, in this order: an open request is stopped, the request is closed, it cannot be escalated
 * further, the caller was shown another version, a batch may not approve it.
 *
 * @throws Problem STOPPED, HITL_ALREADY_DECIDED, HITL_EXPIRED, ESCALATION_LIMIT, HITL_DIGEST_MISMATCH, NOT_ELIGIBLE
 */
export function assertDecidable({ request, facts }: DecisionContext, kind: DutyCommand['kind'], decision: Decision): void {
  if (isOpen(request.status) && facts.stops.length > 0) throw stopProblem(facts.stops);
  const closed = whyClosed(stateOf(request), facts.now);
  if (closed) throw refusalOf({ kind: 'refused', code: closed }, request);
  if (kind === 'escalate' && request.escalationLevel >= HIGHEST_LEVEL) {
    throw refusalOf({ kind: 'refused', code: 'ESCALATION_LIMIT' }, request);
  }
  const { expectedDigest, inBatch } = decision;
  // A reviewer who was shown the version before an edit cannot mean the present one.
  if (request.editedAt !== null && expectedDigest === undefined) throw notAsShown(request);
  assertShown(request, expectedDigest);
  if (inBatch && expectedDigest === undefined) throw digestMissing(request);
  if (inBatch && kind === 'approve' && request.escalationLevel >= HIGHEST_LEVEL) throw tooHighForBatch();
}

/** @throws Problem HITL_DIGEST_MISMATCH where the caller was shown another action */
export function assertShown(request: HitlRequestEntity, expectedDigest: string | undefined): void {
  if (expectedDigest !== undefined && !sameDigest(expectedDigest, request.digest)) throw notAsShown(request);
}
