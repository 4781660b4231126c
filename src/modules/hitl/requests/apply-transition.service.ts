import { Injectable } from '@nestjs/common';
import type { DecisionRecord } from '../../../domain/audit/catalogue/basis.js';
import type { AuditEvent } from '../../../domain/audit/catalogue/audit-events.js';
import { agentChain } from '../../../domain/audit/entry/chain.js';
import { isHardcoded } from '../../../domain/gate/catalogue.js';
import type { Accepted, HitlCommand, HitlEvent, HitlEventType, HitlNext, HitlState, Refused } from '../../../domain/hitl/transition.js';
import { nextReminderAt } from '../../../domain/hitl/reminders.js';
import { isOpen, needsAdmin, transition } from '../../../domain/hitl/transition.js';
import { currentTrace } from '../../../platform/auth/access/call-context.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { newId } from '../../../domain/ids.js';
import { notify } from '../../../platform/outbox/effects.js';
import { GrantUsageStore } from '../../capabilities/grant-usage.store.js';
import { ExecutionStore } from '../../executions/execution.store.js';
import { type ActiveStops, activeStopsOf } from '../../organizations/stops/active-stops.query.js';
import { EligibleDecidersQuery } from '../queue/eligible-deciders.query.js';
import { resumedEnd } from '../expiry/paused-deadline.store.js';
import type { HitlRequestEntity } from './hitl-request.entity.js';
import { HitlRequestStore, type RequestUpdate } from './hitl-request.store.js';
import { refusalOf, type StopRefusal } from './refusals.js';

export interface AppliedTransition {
  request: HitlRequestEntity;
  accepted: Accepted;
  /** Id of its entry; of two entries, the one that records the request's new status. */
  entryId: string;
}

/** A request as it was read under its lock, and the command to apply. */
export interface RequestedTransition {
  request: HitlRequestEntity;
  command: HitlCommand;
  actorId: string;
  /** A code for the entry of a cancellation. */
  cause?: string;
  /** For the entry, where facts were read for the decision. */
  record?: DecisionRecord;
}

/** What the caller has read under the same locks, so that it need not be read again. */
export interface ReadUnderLocks {
  /** The instant by which the caller has decided. */
  readonly now: Date;
  /** The stops in force for the agents concerned. Left out where they were not read. */
  readonly stops?: readonly { readonly id: string }[];
}

/** An accepted transition, with the ids of its entries, one for each event. */
interface PlannedTransition extends RequestedTransition, RequestUpdate {
  cause: string;
  accepted: Accepted;
  entryIds: readonly string[];
}

/**
 * Applies transitions to the rows of one request or of many: compare-and-set of the requests, their entries, the count of open
 * requests, the end of their waiting executions, and notifications. All in the caller's unit of work, which has locked the agents'
 * heads.
 */
@Injectable()
export class ApplyTransitionService {
  constructor(
    private readonly requests: HitlRequestStore,
    private readonly executions: ExecutionStore,
    private readonly usage: GrantUsageStore,
    private readonly eligible: EligibleDecidersQuery,
    private readonly metrics: Metrics,
  ) {}

  /** @throws Problem where the transition is refused, with the request's status; the commit throws it too if the window closes before */
  async apply(tx: Tx, wanted: RequestedTransition, known?: ReadUnderLocks): Promise<AppliedTransition> {
    const [plans, now] = await this.plan(tx, [wanted], known);
    const plan = plans[0]!;
    if ('kind' in plan) throw refusalOf(plan, wanted.request);
    this.requests.updateOrFail(tx, plan, () => refusalOf(TOO_LATE, wanted.request));
    await this.writeConsequences(tx, [plan], now);
    return appliedFrom(plan);
  }

  /**
   * Applies each transition as if alone, in a few statements for all of them.
   *
   * @param known without it, clock and stops are read now
   * @returns the outcome of each, in their order
   */
  async applyAll(
    tx: Tx, wanted: readonly RequestedTransition[], known?: ReadUnderLocks,
  ): Promise<(AppliedTransition | Refused | StopRefusal)[]> {
    if (wanted.length === 0) return [];
    const [results, now] = await this.plan(tx, wanted, known);
    const plans = results.flatMap((one) => ('kind' in one ? [] : [one]));
    const moved = await this.requests.update(tx, plans);
    await this.writeConsequences(tx, plans.filter(({ next }) => moved.has(next.id)), now);
    return results.map((one) => {
      if ('kind' in one) return one;
      return moved.has(one.next.id) ? appliedFrom(one) : TOO_LATE;
    });
  }

  /** The planned transition or the refusal of each, and the instant by which they were decided. */
  private async plan(
    tx: Tx, wanted: readonly RequestedTransition[], known?: ReadUnderLocks,
  ): Promise<[(PlannedTransition | Refused | StopRefusal)[], Date]> {
    const now = known?.now ?? (await tx.now());
    const areFree = known?.stops?.length === 0;
    const stops = areFree ? [] : await activeStopsOf(tx, wanted.map(({ request }) => request));
    const results = wanted.map((one, i) => planOf(one, isOpen(one.request.status) ? stops[i] : undefined, now));
    await this.addressEscalations(tx, results.flatMap((one) => ('kind' in one ? [] : [one])));
    return [results, now];
  }

  private async writeConsequences(tx: Tx, plans: readonly PlannedTransition[], now: Date): Promise<void> {
    for (const plan of plans) this.record(tx, plan);
    tx.onCommit(() => plans.forEach((plan) => this.observe(plan, now)));
    await this.cancelExecutions(tx, plans, now);
  }

  /** An escalation without an addressee goes to the only eligible person of its level, where there is exactly one. */
  private async addressEscalations(tx: Tx, plans: readonly PlannedTransition[]): Promise<void> {
    const unaddressed = plans.filter(({ next, accepted }) =>
      next.escalatedTo === null && accepted.events.some(({ type }) => type === 'hitl.escalated'));
    const onlyOnes = await this.eligible.onlyOnes(tx, unaddressed.map(({ next }) => ({ ...next, level: next.escalationLevel })));
    for (const { next } of unaddressed) next.escalatedTo = onlyOnes.get(next.id) ?? null;
  }

  private record(tx: Tx, plan: PlannedTransition): void {
    const { next, accepted, command, actorId, entryIds } = plan;
    const chain = agentChain(next.organizationId, next.agentId);
    accepted.events.forEach((event, i) => {
      const by = event.actor === 'system' ? 'system' : actorId;
      tx.record(chain, entryOf(event, plan), { actorId: by, id: entryIds[i]! });
    });
    if (accepted.next.decision) tx.countOpenRequests(chain, -1);
    for (const effect of accepted.effects) {
      if (effect.kind !== 'notify') continue;
      // Every admin is notified of a broken glass, with high priority.
      const priority = isBreakGlass(command) ? { priority: 'high', breakGlass: true } as const : {};
      tx.enqueue(notify(next.organizationId, effect.event, { hitlRequestId: next.id, by: actorId, ...priority, ...currentTrace() }));
    }
  }

  private observe({ next: { status, createdAt }, accepted }: PlannedTransition, now: Date): void {
    const { decision } = accepted.next;
    if (!decision) return;
    const waited = Math.max(0, now.getTime() - createdAt.getTime()) / 1_000;
    this.metrics.observe('countersign_decision_wait_seconds', { outcome: status, by: decision.by }, waited);
  }

  private async cancelExecutions(tx: Tx, plans: readonly PlannedTransition[], now: Date): Promise<void> {
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

function planOf(
  { request, command, actorId, cause = 'asked', record }: RequestedTransition, stopped: ActiveStops | undefined, now: Date,
): PlannedTransition | Refused | StopRefusal {
  if (stopped && command.kind !== 'cancel') return { kind: 'refused', code: 'STOPPED', stops: stopped.stops };
  // Requests can be cancelled during a stop, while their deadlines are paused.
  const from = stopped ? { ...request, expiresAt: resumedEnd(request, stopped, now) } : request;
  const accepted = transition(stateOf(from), command, now);
  if (accepted.kind === 'refused') return accepted;
  const entryIds = accepted.events.map(() => newId('audit'));
  const next = nextOf(from, command, accepted, { now, actorId, entryId: entryIds.at(-1)! });
  const bySystem = command.kind === 'timeout' || command.kind === 'remind' || ('by' in command && command.by === 'system');
  const recorded = record ? { record } : {};
  return { request, from, next, command, actorId, cause, ...recorded, accepted, entryIds, withinWindow: !bySystem && !stopped };
}

/** The window closed between reading the clock and writing. */
const TOO_LATE: Refused = { kind: 'refused', code: 'HITL_EXPIRED' };

function appliedFrom({ next, accepted, entryIds }: PlannedTransition): AppliedTransition {
  return { request: next, accepted, entryId: entryIds.at(-1)! };
}

interface Attribution {
  now: Date;
  actorId: string;
  /** Id of the entry that records the decision, where there is one. */
  entryId: string;
}

function nextOf(
  request: HitlRequestEntity, command: HitlCommand, { next, events }: Accepted, by: Attribution,
): HitlRequestEntity {
  const { now, actorId, entryId } = by;
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

function entryOf({ type }: HitlEvent, { next, command, accepted, cause, record }: PlannedTransition): AuditEvent {
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
