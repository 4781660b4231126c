import { createHash } from 'node:crypto';
import { isHardcoded } from '../../gate/catalogue.js';
import type { GateDecision } from '../../gate/decide.js';
import { stricterQuorum } from '../../hitl/quorum.js';
import { type EscalationLevel, type HitlCommand, HIGHEST_LEVEL, transition } from '../../hitl/transition.js';
import { canonical } from '../entry/jcs.js';
import { type OpenEntry, text } from '../entry/open-entry.js';
import type { RecordedBasis } from './recorded-basis.js';
import type { AgentState } from './state/agent-state.js';
import type { FactsAt } from './state/facts-at.js';
import type { GrantState } from './state/grant-state.js';

/** A request as the entries before its decision describe it. */
export interface RequestState {
  readonly id: string;
  readonly executionId: string | undefined;
  readonly capability: string;
  readonly mode: 'propose' | 'escalate';
  readonly level: EscalationLevel;
  readonly definition: string | undefined;
  readonly digest: string | undefined;
  /** Of the current version; undefined where part of it is erased. */
  readonly inputHash: string | undefined;
  /** The grant that asked, as it was, and those of other agents of a task's chain. */
  readonly grant: GrantState | undefined;
  readonly others: readonly (GrantState | undefined)[];
  /** Time never approves what is done for a task. */
  readonly isTask: boolean;
  /** The length of its window, in milliseconds; undefined where that is not known. */
  readonly windowMs: number | undefined;
  /** When its window ends, if no stop makes it longer. */
  readonly expiresAt: number | undefined;
  /** The basis of the last entry that opened a window and has one, and the position of the last entry that opened one. */
  readonly opened: RecordedBasis | undefined;
  readonly openedSeq: number;
  /** The people behind the action: the caller, the person named by the agent, and everybody who edited it. */
  readonly initiators: readonly string[];
  /** Of a delegated task: who owned the agent that had it first. */
  readonly taskOwnerId: string | undefined;
  /** Of the last edit: its editor, its position, and the initiators before. */
  readonly lastEdit: { readonly by: string; readonly seq: number; readonly before: readonly string[] } | undefined;
  /** The people who approved the current version, so far. */
  readonly voters: readonly string[];
  /** Its window has ended; the next entry says whether time approves it. */
  readonly hasRunOut: boolean;
  readonly isApprovedByTime: boolean;
  readonly approval: { readonly entryId: string; readonly level: EscalationLevel | null } | undefined;
}

/** What an entry does with a request. */
export interface RecordedStep {
  readonly entry: OpenEntry;
  /** The agent just before the entry. */
  readonly agent: AgentState;
  /** Whether a stop of the agent's own, or of another agent of the task's chain, is in force. */
  readonly isStopped: boolean;
  /** Whether a stop of the agent's own may have made the window longer. */
  readonly mayHavePaused: boolean;
  readonly request: RequestState;
  readonly command: HitlCommand;
}

/** The outcome by the table of transitions. A window that a stop may have made longer counts as open: no entry says until when. */
export function transitionOf({ request, command, mayHavePaused }: RecordedStep, facts: FactsAt): ReturnType<typeof transition> {
  const { capability, mode, level, grant, others, isTask, windowMs, lastEdit, opened, expiresAt } = request;
  const timeoutAction = grant?.facts.timeoutAction ?? 'reject';
  const isLonger = mayHavePaused || !opened || facts.mayHaveBeenStoppedSince(opened);
  const end = command.kind === 'timeout' ? (expiresAt ?? 0) : isLonger ? FAR_OFF : (expiresAt ?? FAR_OFF);
  return transition({
    status: 'pending', level, hitlMode: mode, hardcoded: isHardcoded(capability), edited: lastEdit !== undefined,
    quorum: [grant, ...others].some((one) => one?.facts.quorum !== undefined),
    timeoutAction: isTask && timeoutAction === 'approve' ? 'reject' : timeoutAction,
    timeoutSeconds: (windowMs ?? 0) / 1_000, expiresAt: new Date(end),
  }, command, new Date(facts.at));
}

const FAR_OFF = 8.64e15;

export function notItsWindow(window: number): string {
  return `its window is not the ${Math.round(window / 1_000)} s that it was asked with`;
}

/** Whether the gate's new answer may run under the request's approval. */
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
  const { definition } = request;
  return definition === undefined || definition === text(metadata, 'definition')
    ? undefined
    : 'the capability was defined otherwise when it was approved';
}

/** Undefined where part of it is erased. */
export function hashOfInput({ metadata, erased }: OpenEntry): string | undefined {
  if (erased.has('input') || metadata['input'] === undefined) return undefined;
  return createHash('sha256').update(canonical(metadata['input'])).digest('base64url');
}
