import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../../domain/audit/catalogue.js';
import { agentChain } from '../../domain/audit/chain.js';
import { isHardcoded } from '../../domain/gate/catalogue.js';
import type { Accepted, HitlCommand, HitlEvent, HitlState, Refused } from '../../domain/hitl/transition.js';
import { isOpen, transition } from '../../domain/hitl/transition.js';
import type { JsonObject } from '../../domain/json.js';
import type { Tx } from '../../platform/database/tx.js';
import { Problem } from '../../platform/http/problem.js';
import { newId } from '../../domain/ids.js';
import { notify } from '../../platform/outbox/effects.js';
import { GrantUsageStore } from '../capabilities/grant-usage.store.js';
import { ExecutionStore } from '../executions/execution.store.js';
import { holdOver } from '../organizations/stop-holds.query.js';
import { resumedEnd } from './frozen-clock.store.js';
import type { HitlRequestEntity } from './hitl-request.entity.js';
import { HitlRequestStore } from './hitl-request.store.js';
import { type Held, stopped } from './held.js';

export interface Moved {
  request: HitlRequestEntity;
  accepted: Accepted;
}

interface Recorded {
  request: HitlRequestEntity;
  command: HitlCommand;
  accepted: Accepted;
  actorId: string;
  cause: string;
  /** One for each event. */
  entryIds: readonly string[];
}

/**
 * Carries a transition of the pure table into the rows: compare-and-set of the request, its entries, the count of open
 * requests, the end of its waiting execution, and the news for people. All in the caller's unit of work.
 */
@Injectable()
export class MoveRequestService {
  constructor(
    private readonly requests: HitlRequestStore,
    private readonly executions: ExecutionStore,
    private readonly usage: GrantUsageStore,
  ) {}

  /** @param cause stands in the entry of a cancellation: a code */
  async move(tx: Tx, found: HitlRequestEntity, command: HitlCommand, actorId: string, cause = 'asked'): Promise<Moved | Refused | Held> {
    const now = await tx.now();
    const hold = isOpen(found.status) ? await holdOver(tx, found) : undefined;
    if (hold && command.kind !== 'cancel') return { kind: 'refused', code: 'STOPPED', stops: hold.stops };
    // Cancelling works while a stop holds, and the window stands still meanwhile.
    const request = hold ? { ...found, expiresAt: resumedEnd(found, hold, now) } : found;
    const accepted = transition(stateOf(request), command, now);
    if (accepted.kind === 'refused') return accepted;
    const entryIds = accepted.events.map(() => newId('audit'));
    const next = nextOf(request, command, accepted, { now, actorId, entryId: entryIds.at(-1)! });
    const bySomebody = command.kind !== 'timeout' && !('by' in command && command.by === 'system') && !hold;
    if (!(await this.requests.move(tx, request, next, bySomebody))) {
      // The window closed between reading the clock and writing.
      return { kind: 'refused', code: 'HITL_EXPIRED' };
    }
    this.record(tx, { request, command, accepted, actorId, cause, entryIds });
    await this.carryOut(tx, next, command, accepted, now);
    return { request: next, accepted };
  }

  private record(tx: Tx, { request, command, accepted, actorId, cause, entryIds }: Recorded): void {
    const chain = agentChain(request.organizationId, request.agentId);
    accepted.events.forEach((event, i) => {
      const by = event.actor === 'system' ? 'system' : actorId;
      tx.record(chain, entryOf(event, request, command, accepted, cause), { actorId: by, id: entryIds[i]! });
    });
    if (accepted.next.decision) tx.countOpenRequests(chain, -1);
  }

  private async carryOut(tx: Tx, request: HitlRequestEntity, command: HitlCommand, { effects }: Accepted, now: Date): Promise<void> {
    for (const effect of effects) {
      if (effect.kind === 'cancel') await this.cancelExecution(tx, request, effect.reason, now);
      if (effect.kind === 'notify') {
        // Of a broken glass every admin is told, loudly.
        const loudly: JsonObject = isBreakGlass(command) ? { priority: 'high', breakGlass: true } : {};
        tx.enqueue(notify(request.organizationId, effect.event, { hitlRequestId: request.id, ...loudly }));
      }
    }
  }

  private async cancelExecution(tx: Tx, request: HitlRequestEntity, reason: string, now: Date): Promise<void> {
    const execution = await this.executions.read(tx, { organizationId: request.organizationId, id: request.executionId });
    await this.usage.giveBack(tx, request.organizationId, execution.id);
    await this.executions.move(tx, 'pending_hitl', {
      ...execution, status: 'cancelled', reason, closedAt: now, auditId: request.decisionEntryId,
    });
  }
}

interface Deed {
  now: Date;
  actorId: string;
  /** Of the entry that tells of the decision, where there is one. */
  entryId: string;
}

function nextOf(request: HitlRequestEntity, command: HitlCommand, { next }: Accepted, { now, actorId, entryId }: Deed): HitlRequestEntity {
  const { decision, status, level, expiresAt } = next;
  return {
    ...request,
    status,
    escalationLevel: level,
    expiresAt,
    ...(status === 'escalated' ? { escalatedAt: now, escalationReason: whyEscalated(command) } : {}),
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

export function stateOf(request: HitlRequestEntity): HitlState {
  return {
    status: request.status,
    level: request.escalationLevel,
    hitlMode: request.hitlMode,
    hardcoded: isHardcoded(request.capability),
    quorum: false,
    expiresAt: request.expiresAt,
    timeoutSeconds: request.timeoutSeconds,
    timeoutAction: request.timeoutAction,
    endedByWindow: request.decisionBy === 'timeout' && request.decidedAt !== null && request.decidedAt >= request.expiresAt,
  };
}

/** A refused transition as the caller learns it, with the state that stands. */
export function refusalOf(refused: Refused | Held, request: HitlRequestEntity): Problem {
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
      return stopped(refused.stops);
  }
}

function entryOf(event: HitlEvent, request: HitlRequestEntity, command: HitlCommand, accepted: Accepted, cause: string): AuditEvent {
  const { capability } = request;
  const hitlId = request.id;
  const note = accepted.next.decision?.note ?? null;
  const comment = note === null ? {} : { comment: note };
  switch (event.type) {
    case 'hitl.approved':
      return {
        type: event.type, capability,
        metadata: { hitlId, digest: request.digest, ...comment, ...(isBreakGlass(command) ? { breakGlass: true } : {}) },
      };
    case 'hitl.rejected':
      return { type: event.type, capability, metadata: { hitlId, ...comment } };
    case 'hitl.cancelled':
      return { type: event.type, capability, metadata: { hitlId, reason: cause, ...comment } };
    case 'hitl.timed_out':
      return { type: event.type, capability, metadata: { hitlId, action: accepted.action! } };
    case 'hitl.escalated':
      return {
        type: event.type,
        capability,
        metadata: { hitlId, reason: whyEscalated(command), level: accepted.next.level },
      };
  }
}

function whyEscalated(command: HitlCommand): string {
  return command.kind === 'escalate' ? command.reason : 'nobody decided in time';
}

function isBreakGlass(command: HitlCommand): boolean {
  return command.kind === 'approve' && command.breakGlass === true;
}
