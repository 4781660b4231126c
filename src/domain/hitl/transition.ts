import type { TimeoutAction } from '../gate/vocabulary.js';
import type { JsonObject, JsonValue } from '../json.js';

export const HITL_STATUSES = ['pending', 'escalated', 'approved', 'rejected', 'timed_out', 'cancelled'] as const;
export type HitlStatus = (typeof HITL_STATUSES)[number];

/** 0 the agent's owner and team, 1 the team's leads, 2 the organization's admins. */
export type EscalationLevel = 0 | 1 | 2;
export const HIGHEST_LEVEL = 2;

/** What of a request decides its transitions. */
export interface HitlState {
  readonly status: HitlStatus;
  readonly level: EscalationLevel;
  readonly hitlMode: 'propose' | 'escalate';
  readonly hardcoded: boolean;
  /** More than one approval is needed. */
  readonly quorum: boolean;
  /** The present version is an edit: only its editor has seen it, so a timeout must not approve it. */
  readonly edited?: boolean;
  readonly expiresAt: Date;
  /** The window, in seconds; each escalation opens a new one. */
  readonly timeoutSeconds: number;
  readonly timeoutAction: TimeoutAction;
  /** The request ended by its window, not by a decision in time. */
  readonly endedByWindow?: boolean;
}

export type HitlCommand =
  /** `deciderLevel`: the highest level at which the approver may decide. `breakGlass`: although separation of duties barred them. */
  | { readonly kind: 'approve'; readonly note?: string; readonly deciderLevel?: EscalationLevel; readonly breakGlass?: true }
  | { readonly kind: 'reject'; readonly note?: string }
  /**
   * `toLevel` where the level is forced; otherwise one level up. `to`: the addressee, who may decide at that level.
   * `anew`: after an edit, the request is escalated to the highest level also where it is at that level already.
   */
  | {
      readonly kind: 'escalate';
      readonly reason: string;
      readonly toLevel?: EscalationLevel;
      readonly to?: string;
      readonly by?: 'human' | 'system';
      readonly anew?: true;
    }
  /** `system` cancels an action that may no longer run, or of which something was erased; also after the window has ended. */
  | { readonly kind: 'cancel'; readonly note?: string; readonly by?: 'human' | 'system' }
  /**
   * `window`: the sweep; `manual`: an administrator's trigger, before the window ends or after. `approvalNeeds`: who would have to
   * approve by now, where an approval by time is not enough.
   */
  | { readonly kind: 'timeout'; readonly trigger: 'window' | 'manual'; readonly approvalNeeds?: 'admin' | 'people' }
  /** One approval of several that the quorum asks for; the one that completes it is an `approve`. */
  | { readonly kind: 'vote'; readonly note?: string; readonly approvals: number; readonly needed: number }
  /** A new version. It decides nothing: reviewers of the former version have to review it again. */
  | { readonly kind: 'edit'; readonly version: number; readonly digest: string; readonly input: JsonObject; readonly diff: JsonValue }
  /** A reminder that the window is about to end. Where it also escalates, people are notified of the escalation alone. */
  | { readonly kind: 'remind'; readonly secondsBefore: number; readonly escalates?: true };

/** What moves a request. A timeout moves it by the action that is applied, which may be milder than the one configured. */
export type Trigger = 'approve' | 'reject' | 'escalate' | 'cancel' | 'vote' | 'edit' | 'remind' | `timeout:${TimeoutAction}`;

export type HitlEventType =
  | 'hitl.approved' | 'hitl.rejected' | 'hitl.escalated' | 'hitl.cancelled' | 'hitl.timed_out'
  | 'hitl.voted' | 'hitl.edited' | 'hitl.reminded';

/** `run`: the approved action may run; `cancel`: the waiting execution ends; `notify`: people are notified of the event. */
export type HitlEffect =
  | { readonly kind: 'run' }
  | { readonly kind: 'cancel'; readonly reason: 'rejected' | 'timed_out' | 'cancelled' }
  | { readonly kind: 'notify'; readonly event: `hitl.request.${Exclude<HitlStatus, 'pending'> | 'reminder'}` };

interface Row {
  readonly from: HitlStatus;
  readonly trigger: Trigger;
  readonly to: HitlStatus;
  readonly events: readonly HitlEventType[];
  readonly outcome?: 'approved' | 'rejected' | 'cancelled';
}

type Move = Omit<Row, 'from' | 'to'> & { readonly to: HitlStatus | 'same' };

// The same moves from both open statuses (interface, section 3). Moves to an open status raise the level, or change nothing.
const MOVES: readonly Move[] = [
  { trigger: 'approve', to: 'approved', events: ['hitl.approved'], outcome: 'approved' },
  { trigger: 'reject', to: 'rejected', events: ['hitl.rejected'], outcome: 'rejected' },
  { trigger: 'escalate', to: 'escalated', events: ['hitl.escalated'] },
  { trigger: 'cancel', to: 'cancelled', events: ['hitl.cancelled'], outcome: 'cancelled' },
  // A timeout is distinct from a person's rejection, hence `timed_out` and not `rejected`.
  { trigger: 'timeout:reject', to: 'timed_out', events: ['hitl.timed_out'], outcome: 'rejected' },
  { trigger: 'timeout:approve', to: 'approved', events: ['hitl.timed_out', 'hitl.approved'], outcome: 'approved' },
  { trigger: 'timeout:escalate', to: 'escalated', events: ['hitl.timed_out', 'hitl.escalated'] },
  { trigger: 'timeout:notify_only', to: 'timed_out', events: ['hitl.timed_out'], outcome: 'rejected' },
  { trigger: 'vote', to: 'same', events: ['hitl.voted'] },
  { trigger: 'edit', to: 'same', events: ['hitl.edited'] },
  { trigger: 'remind', to: 'same', events: ['hitl.reminded'] },
];

export const OPEN_STATUSES = ['pending', 'escalated'] as const satisfies readonly HitlStatus[];

/** The whole machine, as data. */
export const TRANSITIONS: readonly Row[] = OPEN_STATUSES.flatMap((from) =>
  MOVES.map((move) => ({ ...move, from, to: move.to === 'same' ? from : move.to })));

export function isOpen(status: HitlStatus): boolean {
  return (OPEN_STATUSES as readonly HitlStatus[]).includes(status);
}

export interface HitlDecision {
  readonly outcome: 'approved' | 'rejected' | 'cancelled';
  readonly note: string | null;
  readonly by: 'human' | 'timeout' | 'system';
}

export interface HitlNext {
  readonly status: HitlStatus;
  readonly level: EscalationLevel;
  readonly expiresAt: Date;
  readonly decision: HitlDecision | null;
}

/** An event to record; `actor` is the sender of the command, or the system. */
export interface HitlEvent {
  readonly type: HitlEventType;
  readonly actor: 'caller' | 'system';
}

export type Accepted = {
  readonly kind: 'accepted';
  readonly next: HitlNext;
  readonly events: readonly HitlEvent[];
  readonly effects: readonly HitlEffect[];
  /** The timeout action as applied; only after a timeout. */
  readonly action?: TimeoutAction;
};

/** `NOT_DUE` answers a sweep before the window's end; callers of the API never get it. */
export type Refused = {
  readonly kind: 'refused';
  readonly code: 'HITL_ALREADY_DECIDED' | 'HITL_EXPIRED' | 'ESCALATION_LIMIT' | 'NOT_DUE';
};

/**
 * How a request begins: a proposal waits at level 0, an escalation at level 2. A proposal that a person is behind
 * (`forcedLevel` 2) keeps its status and opens at that level.
 */
export function opening(
  mode: 'propose' | 'escalate',
  now: Date,
  timeoutSeconds: number,
  forcedLevel: EscalationLevel = 0,
): HitlNext {
  const escalated = mode === 'escalate';
  return {
    status: escalated ? 'escalated' : 'pending',
    level: escalated ? HIGHEST_LEVEL : forcedLevel,
    expiresAt: windowEnd(now, timeoutSeconds),
    decision: null,
  };
}

/** Why nobody can decide a request any more; undefined while it is open. At the instant of `expiresAt` its window is over. */
export function whyClosed(
  request: Pick<HitlState, 'status' | 'expiresAt' | 'endedByWindow'>,
  now: Date,
): 'HITL_ALREADY_DECIDED' | 'HITL_EXPIRED' | undefined {
  // A decision after the window is late, whether the sweep has ended the request already or not.
  if (!isOpen(request.status)) return request.endedByWindow ? 'HITL_EXPIRED' : 'HITL_ALREADY_DECIDED';
  return isWindowOver(request, now) ? 'HITL_EXPIRED' : undefined;
}

/**
 * The next state of a request, the events to record and the effects to enqueue, or why not. `now` is the database's
 * clock, read after the locks. After the window only a timeout ends a request, or the system's cancellation.
 */
export function transition(request: HitlState, command: HitlCommand, now: Date): Accepted | Refused {
  if (command.kind === 'timeout') return timeOut(request, command, now);
  const closed = whyClosed(request, now);
  const isSystemCancellation = command.kind === 'cancel' && command.by === 'system' && isOpen(request.status);
  if (closed && !isSystemCancellation) return { kind: 'refused', code: closed };
  if (command.kind === 'escalate' && !command.anew && levelAfter(request, command) <= request.level) {
    return { kind: 'refused', code: 'ESCALATION_LIMIT' };
  }
  return move(request, command.kind, command, now);
}

function timeOut(request: HitlState, command: Extract<HitlCommand, { kind: 'timeout' }>, now: Date): Accepted | Refused {
  if (!isOpen(request.status)) return { kind: 'refused', code: 'HITL_ALREADY_DECIDED' };
  if (command.trigger === 'window' && !isWindowOver(request, now)) return { kind: 'refused', code: 'NOT_DUE' };
  const action = appliedAction(request, command.trigger, command.approvalNeeds);
  return { ...move(request, `timeout:${action}`, command, now), action };
}

function isWindowOver({ expiresAt }: Pick<HitlState, 'expiresAt'>, now: Date): boolean {
  return expiresAt.getTime() <= now.getTime();
}

/**
 * The timeout action as it is applied, which may be stricter than the configured one. A timeout approves plain proposals only: never a
 * hardcoded capability, the mode `escalate`, a quorum or an edited version, and never by a manual trigger. A proposal that needs an
 * admin by now is escalated instead. At the highest level, where nothing can be escalated, the request is rejected.
 */
export function appliedAction(
  request: Pick<HitlState, 'timeoutAction' | 'hitlMode' | 'hardcoded' | 'quorum' | 'edited' | 'level'>,
  trigger: 'window' | 'manual',
  approvalNeeds?: 'admin' | 'people',
): TimeoutAction {
  const { timeoutAction, hitlMode, hardcoded, quorum, edited, level } = request;
  const approves = timeoutAction === 'approve';
  const needsPeople = hardcoded || quorum || edited || hitlMode === 'escalate' || trigger === 'manual' || approvalNeeds === 'people';
  if (approves && needsPeople) return 'reject';
  const action = approves && approvalNeeds === 'admin' ? 'escalate' : timeoutAction;
  return action === 'escalate' && level >= HIGHEST_LEVEL ? 'reject' : action;
}

function move(request: HitlState, trigger: Trigger, command: HitlCommand, now: Date): Accepted {
  const row = TRANSITIONS.find((candidate) => candidate.from === request.status && candidate.trigger === trigger);
  if (!row) throw new Error(`No transition from ${request.status} by ${trigger}`);
  const escalates = row.events.includes('hitl.escalated');
  const next: HitlNext = {
    status: row.to,
    level: escalates ? levelAfter(request, command) : request.level,
    expiresAt: escalates ? windowEnd(now, request.timeoutSeconds) : request.expiresAt,
    decision: row.outcome ? { outcome: row.outcome, note: noteOf(command), by: deciderOf(row, command) } : null,
  };
  return {
    kind: 'accepted',
    next,
    events: row.events.map((type) => ({ type, actor: actorOf(type, command) })),
    effects: effectsOf(row, command),
  };
}

function levelAfter(request: HitlState, command: HitlCommand): EscalationLevel {
  const asked = command.kind === 'escalate' ? command.toLevel : needsAdmin(command) ? HIGHEST_LEVEL : undefined;
  return asked ?? levelAbove(request.level);
}

/** The level that an escalation goes to; of the highest one, itself. */
export function levelAbove(level: EscalationLevel): EscalationLevel {
  return level === 0 ? 1 : HIGHEST_LEVEL;
}

export function needsAdmin(command: HitlCommand): boolean {
  return command.kind === 'timeout' && command.approvalNeeds === 'admin';
}

function windowEnd(now: Date, seconds: number): Date {
  return new Date(now.getTime() + seconds * 1000);
}

function noteOf(command: HitlCommand): string | null {
  return 'note' in command ? (command.note ?? null) : null;
}

function deciderOf(row: Row, command: HitlCommand): HitlDecision['by'] {
  if (command.kind === 'timeout') return row.outcome === 'approved' ? 'system' : 'timeout';
  return 'by' in command && command.by === 'system' ? 'system' : 'human';
}

/** The administrator of a manual trigger is the actor of the timeout; the events that follow from it are the system's. */
function actorOf(type: HitlEventType, command: HitlCommand): HitlEvent['actor'] {
  if (command.kind === 'timeout') return type === 'hitl.timed_out' && command.trigger === 'manual' ? 'caller' : 'system';
  if (command.kind === 'remind') return 'system';
  return 'by' in command && command.by === 'system' ? 'system' : 'caller';
}

function effectsOf({ to, trigger }: Row, command: HitlCommand): readonly HitlEffect[] {
  if (command.kind === 'remind') return command.escalates ? [] : [{ kind: 'notify', event: 'hitl.request.reminder' }];
  if (trigger === 'vote' || trigger === 'edit') return [];
  switch (to) {
    case 'approved':
      return [{ kind: 'run' }, { kind: 'notify', event: 'hitl.request.approved' }];
    case 'escalated':
      return [{ kind: 'notify', event: 'hitl.request.escalated' }];
    case 'rejected':
    case 'timed_out':
    case 'cancelled':
      return [{ kind: 'cancel', reason: to }, { kind: 'notify', event: `hitl.request.${to}` }];
    default:
      return [];
  }
}
