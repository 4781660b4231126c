import { createHash } from 'node:crypto';
import type { GateDecision } from '../../gate/decide.js';
import type { RequestState } from './replay-approval.js';
import type { GrantState } from './state/grant-state.js';
import { type OpenEntry, text } from '../entry/open-entry.js';
import type { SharedView } from './superseded/shared-view.js';
import { canonical } from '../completeness/superseded/shown-text.js';

/** An approval satisfies the mode that it was asked under and milder ones, and `escalate` too where it is an admin's. */
export function satisfies(decision: GateDecision, { mode, approval }: RequestState, shared: SharedView): boolean {
  if (decision.kind === 'run') return true;
  if (decision.kind !== 'ask') return false;
  return decision.mode === 'propose' || mode === 'escalate' || approval?.atHighest(shared) === true;
}

export function whyNotApproved(request: RequestState | undefined, { stored, metadata }: OpenEntry, executionId: string): string | undefined {
  if (!request?.approval) return `${executionId} began, and no approval stands before it`;
  if (request.approval.entryId !== text(metadata, 'decisionId')) return `the decision it names is not that of ${request.id}`;
  const isSame = request.executionId === executionId && request.capability === stored.capability;
  if (!isSame) return `${request.id} was approved for something else`;
  const definition = text(metadata, 'definition');
  return request.definition === undefined || request.definition === definition
    ? undefined
    : 'the capability was defined otherwise when it was approved';
}

/** As its grant gives it. Of one that is not known, as long as the request was stamped before its end: a clock may have been wrong. */
export function windowOf(grant: GrantState | undefined, expiresAt: number | undefined, at: number): number | undefined {
  if (grant && !grant.isUnknown) return grant.facts.timeoutSeconds * 1_000;
  return expiresAt === undefined ? undefined : expiresAt - at;
}

/** Undefined where part of it is erased. */
export function hashOfInput({ metadata, erased }: OpenEntry): string | undefined {
  if (erased.has('input') || metadata['input'] === undefined) return undefined;
  return createHash('sha256').update(canonical(metadata['input'])).digest('base64url');
}
