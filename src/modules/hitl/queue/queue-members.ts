import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { type EscalationLevel, HIGHEST_LEVEL } from '../../../domain/hitl/transition.js';
import { readEligibility } from './candidates.query.js';
import { type Eligibility, type JudgedRequest, ownersOf } from './eligibility.js';

/** A request as its queue is decided by. */
export interface QueuedRequest extends JudgedRequest {
  readonly level: EscalationLevel;
  readonly escalatedTo: string | null;
}

/**
 * In whose queues requests stand (queue.query.ts asks the inverse).
 *
 * @param issuer `iss` of the identity provider; null where there is none
 * @returns the people of each, in the order of the requests
 */
export async function queueMembers(run: RunStatement, requests: readonly QueuedRequest[], issuer: string | null): Promise<string[][]> {
  if (requests.length === 0) return [];
  const near = requests.filter(({ level }) => level < HIGHEST_LEVEL);
  const addressees = requests.flatMap(({ escalatedTo }) => (escalatedTo === null ? [] : [escalatedTo]));
  const eligibility = await readEligibility(run, requests, {
    users: [...new Set([...addressees, ...near.flatMap(ownersOf)])],
    teams: [...new Set(near.flatMap(({ agent: { teamId } }) => (teamId === undefined ? [] : [teamId])))],
    admins: true,
  }, issuer);
  return requests.map((request) => membersOf(request, eligibility));
}

function membersOf(request: QueuedRequest, eligibility: Eligibility): string[] {
  const { level, escalatedTo } = request;
  if (escalatedTo !== null && eligibility.mayApprove(escalatedTo, request, level)) return [escalatedTo];
  const approversOf = (of: EscalationLevel) =>
    eligibility.ofLevel(request, of).filter((userId) => eligibility.mayApprove(userId, request, level));
  const own = approversOf(level);
  // Admins stand in for a level that has nobody eligible; they alone can decide at levels that they do not belong to.
  return own.length > 0 || level === HIGHEST_LEVEL ? own : approversOf(HIGHEST_LEVEL);
}
