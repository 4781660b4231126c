import { Injectable } from '@nestjs/common';
import type { DecisionRecord } from '../../../domain/audit/catalogue/basis.js';
import type { AuditEvent } from '../../../domain/audit/catalogue/audit-events.js';
import { agentChain } from '../../../domain/audit/entry/chain.js';
import { isHardcoded } from '../../../domain/gate/catalogue.js';
import type { Accepted, HitlCommand, HitlEvent, HitlEventType, HitlNext, HitlState, Refused } from '../../../domain/hitl/transition.js';
import { nextReminderAt } from '../../../domain/hitl/reminders.js';
import { isOpen, needsAdmin, transition } from '../../../domain/hitl/transition.js';
import type { JsonObject } from '../../../domain/json.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { newId } from '../../../domain/ids.js';
import { notify } from '../../../platform/outbox/effects.js';
import { GrantUsageStore } from '../../capabilities/grant-usage.store.js';
import { ExecutionStore } from '../../executions/execution.store.js';
import { type ActiveStops, activeStopsOf } from '../../organizations/stops/active-stops.query.js';
import { EligibleDecidersQuery } from '../queue/eligible-deciders.query.js';
import { resumedEnd } from '../expiry/paused-deadline.store.js';
import type { HitlRequestEntity } from './hitl-request.entity.js';
import { HitlRequestStore, type RequestUpdate } from './hitl-request.store.js';
import { type StopRefusal, stopProblem } from './stopped.js';

export interface AppliedTransition {
  request: HitlRequestEntity;
  accepted: Accepted;
  /** Of its entry; where it left two, of that which tells what became of the request. */
  entryId: string;
}

/** A request as it was read under its lock, and what shall become of it. */
export interface RequestedTransition {
  found: HitlRequestEntity;
  command: HitlCommand;
  actorId: string;
  /** Stands in the entry of a cancellation: a code. */
  cause?: string;
  /** Stands in its entry, where facts were read for it. */
  record?: DecisionRecord;
}

/** What the caller has seen under the same locks, so that it need not be asked again. */
export interface Seen {
  /** The clock by which it has judged. */
  readonly now: Date;
  /** Of every agent concerned: the stops that hold it. Left out where they were not looked at. */
  readonly stops?: readonly { readonly id: string }[];
}

/** A move that the table accepts, with the ids of its entries, one for each event. */
interface Planned extends RequestedTransition, RequestUpdate {
  cause: string;
  accepted: Accepted;
  entryIds: readonly string[];
}

/**
 * Carries transitions of the pure table into the rows, of one request or of many: compare-and-set of the requests, their
 * entries, the count of open requests, the end of their waiting executions, and the news for people. All in the caller's unit of
 * work, which holds the agents' heads.
 */
@Injectable()
export class ApplyTransitionService {
  constructor(
    private readonly requests: HitlRequestStore,
    private readonly executions: ExecutionStore,
    private readonly usage: GrantUsageStore,
    private readonly eligible: EligibleDecidersQuery,
  ) {}

  /** @throws Problem where the table refuses it, with the state that stands; so does the commit where the window closes before it */
  async move(tx: Tx, wanted: RequestedTransition, seen?: Seen): Promise<AppliedTransition> {
    const [judged, now] = await this.judge(tx, [wanted], seen);
    const plan = judged[0]!;
    if ('kind' in plan) throw refusalOf(plan, wanted.found);
    this.requests.moveOrFail(tx, plan, () => refusalOf(TOO_LATE, wanted.found));
    await this.follow(tx, [plan], now);
    return movedBy(plan);
  }

  /**
   * Each as if alone, in a handful of statements for all of them.
   *
   * @param seen without it, clock and stops are those of this moment
   * @returns what became of each, in their order
   */
  async moveAll(tx: Tx, wanted: readonly RequestedTransition[], seen?: Seen): Promise<(AppliedTransition | Refused | StopRefusal)[]> {
    if (wanted.length === 0) return [];
    const [judged, now] = await this.judge(tx, wanted, seen);
    const plans = judged.flatMap((one) => ('kind' in one ? [] : [one]));
    const moved = await this.requests.move(tx, plans);
    await this.follow(tx, plans.filter(({ next }) => moved.has(next.id)), now);
    return judged.map((one) => {
      if ('kind' in one) return one;
      return moved.has(one.next.id) ? movedBy(one) : TOO_LATE;
    });
  }

  /** What the table says of each, and the clock by which it says it. */
  private async judge(tx: Tx, wanted: readonly RequestedTransition[], seen?: Seen): Promise<[(Planned | Refused | StopRefusal)[], Date]> {
    const now = seen?.now ?? (await tx.now());
    const isFree = seen?.stops?.length === 0;
    const holds = isFree ? [] : await activeStopsOf(tx, wanted.map(({ found }) => found));
    const judged = wanted.map((one, i) => planned(one, isOpen(one.found.status) ? holds[i] : undefined, now));
    await this.addressEscalations(tx, judged.flatMap((one) => ('kind' in one ? [] : [one])));
    return [judged, now];
  }

  private async follow(tx: Tx, carried: readonly Planned[], now: Date): Promise<void> {
    for (const plan of carried) this.record(tx, plan);
    await this.cancelExecutions(tx, carried, now);
  }

  /** An escalation that names nobody goes to the only person of its level, where there is only one. */
  private async addressEscalations(tx: Tx, plans: readonly Planned[]): Promise<void> {
    const unaddressed = plans.filter(({ next, accepted }) =>
      next.escalatedTo === null && accepted.events.some(({ type }) => type === 'hitl.escalated'));
    const wanted = unaddressed.map(({ next }) => ({ organizationId: next.organizationId, id: next.id, level: next.escalationLevel }));
    const onlyOnes = await this.eligible.onlyOnes(tx, wanted);
    for (const { next } of unaddressed) next.escalatedTo = onlyOnes.get(next.id) ?? null;
  }

  private record(tx: Tx, plan: Planned): void {
    const { next, accepted, command, actorId, entryIds } = plan;
    const chain = agentChain(next.organizationId, next.agentId);
    accepted.events.forEach((event, i) => {
      const by = event.actor === 'system' ? 'system' : actorId;
      tx.record(chain, entryOf(event, plan), { actorId: by, id: entryIds[i]! });
    });
    if (accepted.next.decision) tx.countOpenRequests(chain, -1);
    for (const effect of accepted.effects) {
      if (effect.kind !== 'notify') continue;
      // Of a broken glass every admin is told, loudly.
      const loudly: JsonObject = isBreakGlass(command) ? { priority: 'high', breakGlass: true } : {};
      tx.enqueue(notify(next.organizationId, effect.event, { hitlRequestId: next.id, ...loudly }));
    }
  }

  private async cancelExecutions(tx: Tx, plans: readonly Planned[], now: Date): Promise<void> {
    const cancelled = plans.flatMap(({ next, accepted }) => {
      const effect = accepted.effects.find((one) => one.kind === 'cancel');
      return effect
        ? [{ organizationId: next.organizationId, id: next.executionId, reason: effect.reason, auditId: next.decisionEntryId }]
        : [];
    });
    for (const organizationId of [...new Set(cancelled.map((one) => one.organizationId))].sort()) {
      const ids = cancelled.filter((one) => one.organizationId === organizationId).map(({ id }) => id);
      await this.usage.giveBack(tx, organizationId, ids);
    }
    await this.executions.cancel(tx, cancelled, now);
  }
}

function planned(
  { found, command, actorId, cause = 'asked', record }: RequestedTransition, hold: ActiveStops | undefined, now: Date,
): Planned | Refused | StopRefusal {
  if (hold && command.kind !== 'cancel') return { kind: 'refused', code: 'STOPPED', stops: hold.stops };
  // Cancelling works while a stop holds, and the window stands still meanwhile.
  const from = hold ? { ...found, expiresAt: resumedEnd(found, hold, now) } : found;
  const accepted = transition(stateOf(from), command, now);
  if (accepted.kind === 'refused') return accepted;
  const entryIds = accepted.events.map(() => newId('audit'));
  const next = nextOf(from, command, accepted, { now, actorId, entryId: entryIds.at(-1)! });
  const bySystem = command.kind === 'timeout' || command.kind === 'remind' || ('by' in command && command.by === 'system');
  const recorded = record ? { record } : {};
  return { found, from, next, command, actorId, cause, ...recorded, accepted, entryIds, withinWindow: !bySystem && !hold };
}

/** The window closed between reading the clock and writing. */
const TOO_LATE: Refused = { kind: 'refused', code: 'HITL_EXPIRED' };

const movedBy = ({ next, accepted, entryIds }: Planned): AppliedTransition => ({ request: next, accepted, entryId: entryIds.at(-1)! });

interface Deed {
  now: Date;
  actorId: string;
  /** Of the entry that tells of the decision, where there is one. */
  entryId: string;
}

function nextOf(request: HitlRequestEntity, command: HitlCommand, { next, events }: Accepted, deed: Deed): HitlRequestEntity {
  const { now, actorId, entryId } = deed;
  const { decision, status, level, expiresAt } = next;
  const escalates = events.some(({ type }) => type === 'hitl.escalated');
  return {
    ...request,
    status,
    escalationLevel: level,
    expiresAt,
    ...(escalates ? escalationOf(request, command, next, now) : {}),
    ...(command.kind === 'remind' ? remindedBy(request, command.secondsBefore) : {}),
    ...(command.kind === 'approve' ? { deciderLevel: command.deciderLevel ?? null, breakGlass: isBreakGlass(command) } : {}),
    ...(decision
      ? {
          decisionOutcome: decision.outcome,
          decisionBy: decision.by,
          decidedBy: decision.by === 'human' ? actorId : 'system',
          decidedAt: now,
          note: decision.note,
          decisionEntryId: entryId,
        }
      : {}),
  };
}

function remindedBy({ reminders, expiresAt }: HitlRequestEntity, remindedSeconds: number) {
  return { remindedSeconds, remindAt: nextReminderAt({ reminders, remindedSeconds, expiresAt }) };
}

/** A new window, with all of its reminders before it. */
function escalationOf({ reminders }: HitlRequestEntity, command: HitlCommand, { expiresAt }: HitlNext, now: Date) {
  return {
    escalatedAt: now,
    escalationReason: whyEscalated(command),
    escalatedTo: command.kind === 'escalate' ? (command.to ?? null) : null,
    remindedSeconds: null,
    remindAt: nextReminderAt({ reminders, remindedSeconds: null, expiresAt }),
  };
}

export function stateOf(request: HitlRequestEntity): HitlState {
  return {
    status: request.status,
    level: request.escalationLevel,
    hitlMode: request.hitlMode,
    hardcoded: isHardcoded(request.capability),
    quorum: request.quorum !== null,
    edited: request.editedAt !== null,
    expiresAt: request.expiresAt,
    timeoutSeconds: request.timeoutSeconds,
    timeoutAction: request.timeoutAction,
    endedByWindow: request.decisionBy !== 'human' && request.decidedAt !== null && request.decidedAt >= request.expiresAt,
  };
}

/** A refused transition as the caller learns it, with the state that stands. */
export function refusalOf(refused: Refused | StopRefusal, request: HitlRequestEntity): Problem {
  const { id, status, decidedBy, decidedAt } = request;
  const members = { request: { id, status, decidedBy, decidedAt: decidedAt?.toISOString() ?? null } };
  switch (refused.code) {
    case 'HITL_ALREADY_DECIDED':
      return new Problem(refused.code, `The request is ${status}.`, { members });
    case 'HITL_EXPIRED':
      return new Problem(refused.code, 'The time to decide is over; this decision does not count.', { members });
    case 'ESCALATION_LIMIT':
      return new Problem(refused.code, 'Admins are the last to ask.', { members });
    case 'NOT_DUE':
      return new Problem('CONFLICT', 'The time to decide is not over yet.', { members });
    case 'STOPPED':
      return stopProblem(refused.stops);
  }
}

function entryOf({ type }: HitlEvent, { next, command, accepted, cause, record }: Planned): AuditEvent {
  const { capability, digest } = next;
  const hitl = { hitlId: next.id, ...(next.flagged ? { flagged: true } : {}) };
  const comment = 'note' in command && command.note !== undefined ? { comment: command.note } : {};
  const entry = <Type extends HitlEventType>(of: Type, metadata: Extract<AuditEvent, { type: Type }>['metadata']) =>
    ({ type: of, capability, metadata }) as AuditEvent;
  switch (command.kind) {
    case 'vote':
      return entry('hitl.voted', { ...hitl, approvals: command.approvals, needed: command.needed, ...comment, ...record });
    case 'edit':
      return entry('hitl.edited', {
        ...hitl, version: command.version, digest: command.digest, input: command.input, diff: command.diff, ...record,
      });
    case 'remind':
      return entry('hitl.reminded', { ...hitl, secondsBefore: command.secondsBefore });
    default:
  }
  switch (type) {
    case 'hitl.approved':
      return entry(type, { ...hitl, digest, ...comment, ...(isBreakGlass(command) ? { breakGlass: true } : {}), ...record });
    case 'hitl.rejected':
      return entry(type, { ...hitl, ...comment, ...record });
    case 'hitl.cancelled':
      return entry(type, { ...hitl, reason: cause, ...comment, ...record });
    case 'hitl.timed_out':
      return entry(type, { ...hitl, action: accepted.action! });
    case 'hitl.escalated': {
      const { escalatedTo, escalationLevel: level, expiresAt } = next;
      const moved = { ...hitl, reason: whyEscalated(command), level, expiresAt: expiresAt.toISOString() };
      return entry(type, { ...moved, ...(escalatedTo === null ? {} : { escalatedTo }), ...record });
    }
    default:
      throw new Error(`${command.kind} records no ${type}`);
  }
}

function whyEscalated(command: HitlCommand): string {
  if (command.kind === 'escalate') return command.reason;
  return needsAdmin(command) ? 'nobody decided in time, and it now needs a decision of an admin' : 'nobody decided in time';
}

function isBreakGlass(command: HitlCommand): boolean {
  return command.kind === 'approve' && command.breakGlass === true;
}
