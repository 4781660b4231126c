import { createHash } from 'node:crypto';
import { isHardcoded } from '../../gate/catalogue.js';
import type { GateDecision } from '../../gate/decide.js';
import { stricterQuorum } from '../../hitl/quorum.js';
import { type EscalationLevel, type HitlCommand, HIGHEST_LEVEL, type HitlState, transition } from '../../hitl/transition.js';
import { canonical } from '../entry/jcs.js';
import { type OpenEntry, text } from '../entry/open-entry.js';
import type { RecordedBasis } from './recorded-basis.js';
import type { FactsAt } from './state/facts-at.js';
import type { GrantState } from './state/grant-state.js';

/** A request as the entries before its decision tell it. */
export interface RequestState {
  readonly id: string;
  readonly executionId: string | undefined;
  readonly capability: string;
  readonly mode: 'propose' | 'escalate';
  readonly level: EscalationLevel;
  readonly definition: string | undefined;
  readonly digest: string | undefined;
  /** Of the version that stands; undefined where part of it is erased. */
  readonly inputHash: string | undefined;
  /** The grant that asked, as it was. */
  readonly grant: GrantState | undefined;
  /** How long a window it gives, in milliseconds; undefined: nobody can tell. */
  readonly windowMs: number | undefined;
  /** When its window ends, if no stop makes it longer. */
  readonly expiresAt: number | undefined;
  /** What the last entry rests on that opened a window and says so, and where the last that opened one stands in the chain. */
  readonly opened: RecordedBasis | undefined;
  readonly openedSeq: number;
  /** Who is behind the action: whose call it was, for whom it was said to be, who edited it. */
  readonly initiators: readonly string[];
  /** Of the last edit: by whom, where, and who was behind the action before. */
  readonly lastEdit: { readonly by: string; readonly seq: number; readonly before: readonly string[] } | undefined;
  /** Who approved the version that stands, so far. */
  readonly voters: readonly string[];
  /** Its window has ended, and what comes of that is told next: that time approves it, or something else. */
  readonly hasRunOut: boolean;
  readonly isApprovedByTime: boolean;
  readonly approval: { readonly entryId: string; readonly level: EscalationLevel | null } | undefined;
}

/**
 * What the table of transitions makes of a command. A window that a stop may have made longer is taken for open, since no entry tells how
 * much longer it is.
 */
export function moved(request: RequestState, command: HitlCommand, facts: FactsAt, wasStopped: boolean): ReturnType<typeof transition> {
  const isLonger = wasStopped || !request.opened || facts.mayHaveBeenStoppedSince(request.opened);
  const end = command.kind === 'timeout' ? (request.expiresAt ?? 0) : isLonger ? FAR_OFF : (request.expiresAt ?? FAR_OFF);
  return transition({ ...stateOf(request), expiresAt: new Date(end) }, command, new Date(facts.at));
}

const FAR_OFF = 8.64e15;

function stateOf({ capability, mode, level, grant, windowMs, lastEdit }: RequestState): Omit<HitlState, 'expiresAt'> {
  return {
    status: 'pending', level, hitlMode: mode, hardcoded: isHardcoded(capability), edited: lastEdit !== undefined,
    quorum: grant?.facts.quorum !== undefined, timeoutAction: grant?.facts.timeoutAction ?? 'reject',
    timeoutSeconds: (windowMs ?? 0) / 1_000,
  };
}

export function notItsWindow(window: number): string {
  return `its window is not the ${Math.round(window / 1_000)} s that it was asked with`;
}

/** Whether what the gate says now may run under the request's approval. */
export function mayRunUnder(
  decision: GateDecision, grant: GrantState | undefined, { mode, approval, grant: asking }: RequestState,
): boolean {
  if (decision.kind !== 'run' && decision.kind !== 'ask') return false;
  const level = approval?.level ?? null;
  if (decision.kind === 'ask' && decision.mode === 'escalate' && mode === 'propose' && level !== HIGHEST_LEVEL) return false;
  return level !== null || stricterQuorum(asking?.facts.quorum ?? null, grant?.facts.quorum ?? null) === null;
}

export function whyNotApproved(
  request: RequestState | undefined, { stored, metadata }: OpenEntry, executionId: string,
): string | undefined {
  if (!request?.approval) return `${executionId} began, and no approval stands before it`;
  if (request.approval.entryId !== text(metadata, 'decisionId')) return `the decision it names is not that of ${request.id}`;
  const isSame = request.executionId === executionId && request.capability === stored.capability;
  if (!isSame) return `${request.id} was approved for something else`;
  const definition = text(metadata, 'definition');
  return request.definition === undefined || request.definition === definition
    ? undefined
    : 'the capability was defined otherwise when it was approved';
}

/** Undefined where part of it is erased. */
export function hashOfInput({ metadata, erased }: OpenEntry): string | undefined {
  if (erased.has('input') || metadata['input'] === undefined) return undefined;
  return createHash('sha256').update(canonical(metadata['input'])).digest('base64url');
}
