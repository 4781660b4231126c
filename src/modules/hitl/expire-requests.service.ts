import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { agentChain } from '../../domain/audit/chain.js';
import type { TimeoutAction } from '../../domain/gate/vocabulary.js';
import { asService, recordsNothing } from '../../platform/auth/call-context.js';
import type { Caller } from '../../platform/auth/principal.js';
import { type Scope, scopeOfEverything } from '../../platform/auth/scope.js';
import { Replayed } from '../../platform/database/idempotency.js';
import { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { isPassing } from '../../platform/http/failure.js';
import { Waiters } from '../../platform/wake/waiters.js';
import { HitlRequestStore, type RequestPlace } from './hitl-request.store.js';
import { MoveRequestService, refusalOf } from './move-request.service.js';

const SWEEP_EVERY_MS = 1_000;
const SWEEP_AT_ONCE = 200;

export interface Swept {
  checked: number;
  timedOut: number;
  approved: number;
  escalated: number;
}

/**
 * Ends requests that nobody decided in time. Candidates are found without a lock and ended one by one by
 * compare-and-set, so any number of replicas may sweep. The database's clock decides.
 */
@Injectable()
export class ExpireRequestsService {
  private sweeping = false;

  constructor(
    private readonly work: UnitOfWork,
    private readonly requests: HitlRequestStore,
    private readonly moving: MoveRequestService,
    private readonly waiters: Waiters,
  ) {}

  @Interval(SWEEP_EVERY_MS)
  async tick(): Promise<void> {
    if (this.sweeping) return;
    this.sweeping = true;
    try {
      await asService('sweeper', () => this.sweep(scopeOfEverything(), 'system'));
    } catch {
      // The database is away, or busy: the next tick looks again, and readiness tells.
    } finally {
      this.sweeping = false;
    }
  }

  async sweep(scope: Scope, actorId: string): Promise<Swept> {
    const swept: Swept = { checked: 0, timedOut: 0, approved: 0, escalated: 0 };
    for (let held = 0; ; held = 0) {
      const due = await this.requests.due(scope, SWEEP_AT_ONCE);
      for (const place of due) {
        // One chain that somebody holds does not keep the others waiting: it comes round again.
        const action = await this.timeOut(place, 'window', actorId).catch((error: unknown) => {
          if (!isPassing(error)) throw error;
          held++;
          return undefined;
        });
        swept.checked++;
        if (action === 'approve') swept.approved++;
        else if (action === 'escalate') swept.escalated++;
        else if (action !== undefined) swept.timedOut++;
      }
      if (due.length < SWEEP_AT_ONCE || held > 0) {
        if (swept.checked === 0) recordsNothing();
        return swept;
      }
    }
  }

  /**
   * The manual trigger: before the window's end too.
   *
   * @returns the action as applied, and whether this call was answered before
   * @throws Problem HITL_ALREADY_DECIDED
   */
  async trigger(id: string, caller: Caller): Promise<{ action: TimeoutAction; replayed: boolean }> {
    const place = await this.requests.place(caller.scope, id);
    try {
      return { action: (await this.timeOut(place, 'manual', caller.actorId))!, replayed: false };
    } catch (error) {
      if (!(error instanceof Replayed)) throw error;
      recordsNothing();
      return { action: (error.answer.body as { action: TimeoutAction }).action, replayed: true };
    }
  }

  private async timeOut(place: RequestPlace, trigger: 'window' | 'manual', actorId: string): Promise<TimeoutAction | undefined> {
    const chains = [agentChain(place.organizationId, place.agentId)];
    const plan = { chains, judges: [place.organizationId], leavesFacts: true, evenIfClosed: true } as const;
    const action = await this.work.run(plan, async (tx) => {
      const request = await this.requests.read(tx, place);
      const moved = await this.moving.move(tx, request, { kind: 'timeout', trigger }, actorId);
      if (!('kind' in moved)) {
        tx.reply(200, { hitlRequestId: place.id, action: moved.accepted.action });
        return moved.accepted.action;
      }
      if (trigger === 'window') return undefined;
      throw refusalOf(moved, request);
    });
    if (action !== undefined) {
      this.waiters.wake(place.id);
      this.waiters.wake(place.executionId);
    }
    return action;
  }
}
