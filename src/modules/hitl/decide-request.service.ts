import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { agentChain } from '../../domain/audit/chain.js';
import { jcs } from '../../domain/audit/jcs.js';
import { decide, type GateDecision } from '../../domain/gate/decide.js';
import { actionDigest } from '../../domain/hitl/digest.js';
import type { HitlCommand } from '../../domain/hitl/transition.js';
import { isOpen } from '../../domain/hitl/transition.js';
import { type JsonObject, isJsonObject } from '../../domain/json.js';
import type { Caller } from '../../platform/auth/principal.js';
import type { Tx } from '../../platform/database/tx.js';
import { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { Problem } from '../../platform/http/problem.js';
import { runExecution } from '../../platform/outbox/effects.js';
import { Waiters } from '../../platform/wake/waiters.js';
import { type Facts, FactsQuery } from '../authority/facts.query.js';
import { assertNotStopped } from './held.js';
import type { HitlRequestEntity } from './hitl-request.entity.js';
import { HitlRequestStore, type RequestPlace } from './hitl-request.store.js';
import { LicenceService } from './licence.service.js';
import { MoveRequestService, refusalOf } from './move-request.service.js';

export interface Decision {
  note?: string;
  expectedDigest?: string;
}

/** Approves, rejects and cancels. Exactly one command ends a request; whoever comes later learns the state. */
@Injectable()
export class DecideRequestService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly requests: HitlRequestStore,
    private readonly moving: MoveRequestService,
    private readonly facts: FactsQuery,
    private readonly licences: LicenceService,
    private readonly waiters: Waiters,
  ) {}

  /**
   * Approves the stored bytes, after asking the gate anew: what the grant, the agent and the definition allow now counts,
   * not what they allowed when the request was made.
   *
   * @throws Problem NOT_EXECUTABLE when it may no longer run; the request is then cancelled
   */
  async approve(id: string, { note, expectedDigest }: Decision, caller: Caller): Promise<void> {
    const place = await this.requests.place(caller.scope, id);
    const refused = await this.within(place, async (tx) => {
      const request = await this.requests.read(tx, place);
      assertShown(request, expectedDigest);
      const wanted = { ...place, agentId: request.agentId, capability: request.capability };
      const facts = await this.facts.readWithin(tx, wanted, request.executionId);
      if (isOpen(request.status)) assertNotStopped(facts);
      const obstacle = isOpen(request.status) ? obstacleTo(request, facts) : undefined;
      // A window that is over answers before the gate does.
      if (obstacle !== undefined && request.expiresAt > facts.now) {
        const { decidedAt } = await this.end(tx, request, { kind: 'cancel', by: 'system' }, 'system', obstacle.code);
        const refused: RefusedApproval = { hitlRequestId: place.id, detail: obstacle.detail, decidedAt: decidedAt!.toISOString() };
        tx.reply(409, refused);
        return refused;
      }
      const approved = await this.end(tx, request, { kind: 'approve', ...(note === undefined ? {} : { note }) }, caller.actorId);
      if (this.licences.isReceipt(request, facts)) await this.licences.give(tx, approved, facts);
      else tx.enqueue(runExecution(place.organizationId, request.executionId));
      return undefined;
    });
    this.wake(place);
    if (refused) throw notExecutable(refused);
  }

  async reject(id: string, { note, expectedDigest }: Decision, caller: Caller): Promise<void> {
    const place = await this.requests.place(caller.scope, id);
    await this.within(place, async (tx) => {
      const request = await this.requests.read(tx, place);
      assertShown(request, expectedDigest);
      await this.end(tx, request, { kind: 'reject', ...(note === undefined ? {} : { note }) }, caller.actorId);
    });
    this.wake(place);
  }

  async cancel(id: string, { note, expectedDigest }: Decision, caller: Caller): Promise<void> {
    const place = await this.requests.place(caller.scope, id);
    await this.within(place, async (tx) => {
      const request = await this.requests.read(tx, place);
      assertShown(request, expectedDigest);
      await this.end(tx, request, { kind: 'cancel', ...(note === undefined ? {} : { note }) }, caller.actorId);
    });
    this.wake(place);
  }

  private within<Result>(place: RequestPlace, story: (tx: Tx) => Promise<Result>): Promise<Result> {
    const chains = [agentChain(place.organizationId, place.agentId)];
    return this.work.run({ chains, judges: [place.organizationId], leavesFacts: true }, async (tx) => {
      // The kept answer is a note of what was decided; a replay shows the request as it then stands.
      tx.reply(200, { hitlRequestId: place.id });
      return story(tx);
    });
  }

  private async end(tx: Tx, request: HitlRequestEntity, command: HitlCommand, actorId: string, cause?: string): Promise<HitlRequestEntity> {
    const moved = await this.moving.move(tx, request, command, actorId, cause);
    if ('kind' in moved) throw refusalOf(moved, request);
    return moved.request;
  }

  private wake(place: RequestPlace): void {
    this.waiters.wake(place.id);
    this.waiters.wake(place.executionId);
  }
}

/** @throws Problem HITL_DIGEST_MISMATCH when the reviewer was shown another action than the one that stands */
function assertShown(request: HitlRequestEntity, expected: string | undefined): void {
  if (expected === undefined || sameText(expected, request.digest)) return;
  const { id, status, decidedBy, decidedAt } = request;
  throw new Problem('HITL_DIGEST_MISMATCH', 'Look at the request again: it is not the action that you were shown.', {
    members: { request: { id, status, decidedBy, decidedAt: decidedAt?.toISOString() ?? null } },
  });
}

export interface Obstacle {
  /** A code for the audit entry. */
  code: string;
  detail: string;
}

/** Why an action that was asked about may not run any more, if so. Asked at approval, and again when it begins. */
export function obstacleTo(request: HitlRequestEntity, facts: Facts): Obstacle | undefined {
  const input = canonicalObject(request.input);
  const context = request.context === null ? undefined : canonicalObject(request.context);
  if (!input || context === null || !hasItsDigest(request, input)) {
    return { code: 'digest_mismatch', detail: 'What is stored is not what was asked about.' };
  }
  if (facts.definition?.digest !== request.definition) {
    return { code: 'definition_changed', detail: 'The definition of the capability has changed since.' };
  }
  if (!facts.agent) return { code: 'agent_inactive', detail: 'The agent is gone.' };
  const decision = decide({
    definition: facts.definition,
    agent: facts.agent,
    stops: facts.stops,
    ...(facts.usage ? { used: facts.usage.used } : {}),
    call: {
      capability: request.capability,
      input,
      now: facts.now,
      tokenCapabilities: 'any',
      ...(context ? { context } : {}),
    },
    ...(facts.grant ? { grant: facts.grant } : {}),
  });
  return obstacleIn(decision, request);
}

/** An approval satisfies the mode that it was asked under and milder ones. */
function obstacleIn(decision: GateDecision, request: HitlRequestEntity): Obstacle | undefined {
  switch (decision.kind) {
    case 'refuse':
      return { code: decision.code.toLowerCase(), detail: decision.detail };
    case 'invalid':
      return { code: 'invalid_input', detail: 'The input no longer fits the capability.' };
    case 'block':
      return { code: 'blocked', detail: 'The capability is blocked by policy now.' };
    case 'ask':
      return decision.mode === 'escalate' && request.hitlMode === 'propose' && request.escalationLevel < 2 && request.decidedBy === 'system'
        ? { code: 'escalation_needed', detail: 'It now needs a decision of an admin.' }
        : undefined;
    case 'run':
      return undefined;
  }
}

function hasItsDigest(request: HitlRequestEntity, input: JsonObject): boolean {
  const { action, agentId, capability, definition, nonce, runs } = request;
  const digest = actionDigest({
    agentId, capability, definition, hitlRequestId: request.id, input, nonce, runs, ...(action === null ? {} : { action }),
  });
  return sameText(digest, request.digest);
}

/** What the text says, if it is the canonical text of an object: only then are the bytes that run the bytes that were hashed. */
function canonicalObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && jcs(value) === text ? value : null;
  } catch {
    return null;
  }
}

function sameText(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/** An approval that came too late for its action: as the idempotency record keeps it. */
export interface RefusedApproval {
  hitlRequestId: string;
  detail: string;
  decidedAt: string;
}

/** @param headers of a replay */
export function notExecutable({ hitlRequestId: id, detail, decidedAt }: RefusedApproval, headers: Record<string, string> = {}): Problem {
  return new Problem('NOT_EXECUTABLE', `${detail} The request is cancelled.`, {
    headers,
    members: { request: { id, status: 'cancelled', decidedBy: 'system', decidedAt } },
  });
}
