import { HIGHEST_LEVEL, type Refused } from '../../../domain/hitl/transition.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { HitlRequestEntity } from './hitl-request.entity.js';

/** A command that a stop refuses. The request stays as it is, and its deadline is paused. */
export interface StopRefusal {
  readonly kind: 'refused';
  readonly code: 'STOPPED';
  readonly stops: readonly { readonly id: string }[];
}

type Shown = Pick<HitlRequestEntity, 'id' | 'status' | 'decidedBy' | 'decidedAt'>;

/** The request's present state, for the caller and for the idempotency record. */
export interface RequestSummary {
  readonly id: string;
  readonly status: string;
  readonly decidedBy: string | null;
  readonly decidedAt: string | null;
}

/** An approval that was refused and changed the request all the same, as the idempotency record keeps it. */
export interface RefusedApproval {
  readonly detail: string;
  readonly request: RequestSummary;
}

export function summaryOf({ id, status, decidedBy, decidedAt }: Shown): RequestSummary {
  return { id, status, decidedBy, decidedAt: decidedAt?.toISOString() ?? null };
}

/** The problem of a refused transition, with the request's present state. */
export function refusalOf(refused: Refused | StopRefusal, request: Shown): Problem {
  if (refused.code === 'STOPPED') return stopProblem(refused.stops);
  const members = { request: { ...summaryOf(request) } };
  switch (refused.code) {
    case 'HITL_ALREADY_DECIDED':
      return new Problem(refused.code, `The request is ${request.status}.`, { members });
    case 'HITL_EXPIRED':
      return new Problem(refused.code, 'The time to decide is over; this decision does not count.', { members });
    case 'ESCALATION_LIMIT':
      return new Problem(refused.code, 'Admins are the last to ask.', { members });
    case 'NOT_DUE':
      return new Problem('CONFLICT', 'The time to decide is not over yet.', { members });
  }
}

export function stopProblem(stops: StopRefusal['stops']): Problem {
  return new Problem('STOPPED', `A stop holds this agent: ${stops.map(({ id }) => id).join(', ')}.`);
}

/** The caller was shown another version of the action, or did not say which one. */
export function notAsShown(request: HitlRequestEntity): Problem {
  return digestMismatch(request, request.editedAt === null
    ? 'Look at the request again: it is not the action that you were shown.'
    : 'Look at the request again: it was edited. Send the actionDigest that it has now as expectedDigest.');
}

export function digestMissing(request: HitlRequestEntity): Problem {
  return digestMismatch(request, 'In a batch each item brings the `actionDigest` that you were shown.');
}

export function tooHighForBatch(): Problem {
  return new Problem('NOT_ELIGIBLE', `A batch approves nothing of level ${HIGHEST_LEVEL}. Approve this request by itself.`);
}

/** @param headers of an idempotent replay */
export function notExecutable({ detail, request }: RefusedApproval, headers: Record<string, string> = {}): Problem {
  return new Problem('NOT_EXECUTABLE', `${detail} The request is ${request.status}.`, { headers, members: { request: { ...request } } });
}

function digestMismatch(request: Shown, detail: string): Problem {
  return new Problem('HITL_DIGEST_MISMATCH', detail, { members: { request: { ...summaryOf(request) } } });
}
