import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { agentChain } from '../../../domain/audit/entry/chain.js';
import type { Scope } from '../../../platform/auth/access/scope.js';
import { type Plan, UnderWay } from '../../../platform/database/transaction/plan.js';
import type { WorkConnections } from '../../../platform/database/reserved-pool.js';
import { isLockTimeout, isPassing } from '../../../platform/http/reply/failure.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { Waiters } from '../../../platform/wake/waiters.js';
import { type DueKind, type DueRequest, DueRequestsQuery } from './due-requests.query.js';
import { HitlRequestStore } from '../requests/hitl-request.store.js';
import { RemindService } from './remind.service.js';
import { byAgent, halves, partitionsOf, SetAside, batchesOf } from './sweep-batches.js';
import { type Outcome, TimeOutService } from './time-out.service.js';

/** Requests found by one look. New ones are seen by the next, so that nobody waits until thousands of others have ended. */
const LOOK = 4_000;
/** For a lock that is held: longer than any work of ours takes, and short beside the second in which a request has to end. */
const PATIENCE_MS = 250;
/** All agents' together, after each look. */
const PATIENCE_OF_A_LOOK_MS = 500;
const HELD_FOR_MS = 1_000;
const BROKEN_FOR_MS = 60_000;

export interface Swept {
  checked: number;
  timedOut: number;
  approved: number;
  escalated: number;
  /** Time was up before everything had ended. */
  more?: true;
}

export interface ExpiryOptions {
  readonly scope: Scope;
  readonly kinds: readonly DueKind[];
  readonly lane: WorkConnections;
  /**
   * How many sets are ended at a time, each on a connection of its own; of an agent, one. Each lane has an advisory lock of its
   * own besides, so that servers do not do the same.
   */
  readonly lanes?: readonly number[];
  readonly setAside: SetAside;
  readonly isOver: () => boolean;
}

/** The order, what has come of it, and the requests whose agents' heads somebody held. Of one lane: what is its own is its lock. */
interface Sweep extends ExpiryOptions {
  readonly swept: Swept;
  readonly held: DueRequest[];
  /** `isBroken`: a lane has failed, or another server has it, so the others end too. */
  readonly progress: { moved: number; isBroken: boolean };
  readonly alone: number | undefined;
}

/** A caller's: one set after the other, under no lock. */
const ONE_LANE = [undefined];

/**
 * Ends what is due, and gives reminders, in sets: found without a lock, then one unit of work for a set. Heads that somebody
 * holds are left out and waited for by themselves, a little; a set that fails is divided until what fails in it stands alone. Any
 * number of servers may sweep: each request is looked at again under its agent's head.
 */
@Injectable()
export class SweepService {
  constructor(
    private readonly due: DueRequestsQuery,
    private readonly requests: HitlRequestStore,
    private readonly timingOut: TimeOutService,
    private readonly reminding: RemindService,
    private readonly waiters: Waiters,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Until nothing more is due. Ends early, and says so, when the order `isOver`, and where another server is sweeping. */
  async sweep(order: ExpiryOptions): Promise<Swept> {
    const swept: Swept = { checked: 0, timedOut: 0, approved: 0, escalated: 0 };
    const sweep: Sweep = { ...order, swept, held: [], progress: { moved: 0, isBroken: false }, alone: order.lanes?.[0] };
    try {
      while (await this.round(sweep));
    } catch (error) {
      if (!(error instanceof UnderWay)) throw error;
    }
    return swept;
  }

  /** @returns whether there is more */
  private async round(sweep: Sweep): Promise<boolean> {
    let isFull = false;
    const movedBefore = sweep.progress.moved;
    for (const kind of sweep.kinds) {
      const found = await this.due.find(sweep.scope, kind, LOOK, sweep.setAside.now(), sweep.lane.run);
      isFull ||= found.length === LOOK;
      if (kind === 'window') sweep.swept.checked += found.length;
      await this.endAll(sweep, kind, found);
      if (this.isOver(sweep)) return false;
      await this.waitForHeld(sweep, kind);
    }
    return isFull && sweep.progress.moved > movedBefore && !this.isOver(sweep);
  }

  /** Has ended when all lanes have, be it in vain. */
  private async endAll(sweep: Sweep, kind: DueKind, found: readonly DueRequest[]): Promise<void> {
    const keys = sweep.lanes ?? ONE_LANE;
    const lanes = partitionsOf(found, keys.length).map((due, i) => this.endInLane({ ...sweep, alone: keys[i] }, kind, due));
    for (const lane of await Promise.allSettled(lanes)) if (lane.status === 'rejected') throw lane.reason;
  }

  private async endInLane(sweep: Sweep, kind: DueKind, due: readonly DueRequest[]): Promise<void> {
    try {
      for (const set of batchesOf(due)) {
        if (sweep.progress.isBroken || this.isOver(sweep)) return;
        await this.endSet(sweep, kind, set);
      }
    } catch (error) {
      sweep.progress.isBroken = true;
      throw error;
    }
  }

  private isOver({ isOver, swept }: Sweep): boolean {
    if (isOver()) swept.more = true;
    return swept.more === true;
  }

  private async waitForHeld(sweep: Sweep, kind: DueKind): Promise<void> {
    const until = performance.now() + PATIENCE_OF_A_LOOK_MS;
    const held = byAgent(sweep.held.splice(0));
    for (const agents of held) {
      if (performance.now() < until) {
        for (const set of batchesOf(agents)) await this.endSet(sweep, kind, set, PATIENCE_MS);
      } else sweep.setAside.agent(agents[0]!.agentId, HELD_FOR_MS);
    }
  }

  private async endSet(sweep: Sweep, kind: DueKind, set: readonly DueRequest[], patienceMs?: number): Promise<void> {
    try {
      const outcomes = await this.inOneWork(sweep, kind, set, patienceMs);
      if (patienceMs === undefined) sweep.held.push(...set.filter(({ id }) => !outcomes.has(id)));
      this.count(sweep, set, outcomes);
    } catch (error) {
      if (error instanceof UnderWay || isOfTheCaller(error)) throw error;
      if (isLockTimeout(error)) return this.endApart(sweep, kind, byAgent(set));
      // Nothing can be ended now; the next sweep tries again.
      if (isPassing(error)) throw error;
      if (set.length > 1) return this.endApart(sweep, kind, halves(set), patienceMs);
      this.logger.error({ err: error, hitlRequestId: set[0]!.id }, 'a request could not be ended; it is tried again in a minute');
      sweep.setAside.request(set[0]!.id, BROKEN_FOR_MS);
    }
  }

  private async endApart(sweep: Sweep, kind: DueKind, parts: readonly (readonly DueRequest[])[], patienceMs?: number): Promise<void> {
    // One agent alone, and held up: it is left for a while.
    if (parts.length === 1) return sweep.setAside.agent(parts[0]![0]!.agentId, HELD_FOR_MS);
    for (const part of parts) await this.endSet(sweep, kind, part, patienceMs);
  }

  private inOneWork(
    { lane, alone }: Sweep, kind: DueKind, set: readonly DueRequest[], patienceMs: number | undefined,
  ): Promise<Map<string, Outcome | undefined>> {
    const plan: Plan = {
      chains: byAgent(set).map(([one]) => agentChain(one!.organizationId, one!.agentId)),
      judges: [...new Set(set.map(({ organizationId }) => organizationId))],
      leavesFacts: true, evenIfClosed: true, patienceMs: PATIENCE_MS,
      ...(patienceMs === undefined ? { onlyFree: true } : {}),
      ...(alone === undefined ? {} : { alone }),
    };
    return lane.work.run(plan, async (tx) => {
      const isFree = ({ organizationId, agentId }: DueRequest) => tx.holds(agentChain(organizationId, agentId));
      const found = await this.requests.readAll(tx, set.filter(isFree));
      const outcomes = kind === 'window'
        ? await this.timingOut.timeOutAll(tx, found, 'window', 'system')
        : await this.reminding.remindAll(tx, found);
      return new Map(found.map(({ id }, i) => [id, outcomes[i]]));
    });
  }

  private count(sweep: Sweep, set: readonly DueRequest[], outcomes: ReadonlyMap<string, Outcome | undefined>): void {
    for (const { id, executionId } of set) {
      if (!outcomes.has(id)) continue;
      const outcome = outcomes.get(id);
      if (outcome === undefined || 'code' in outcome) {
        sweep.setAside.request(id, HELD_FOR_MS);
        continue;
      }
      sweep.progress.moved++;
      const { action } = outcome.accepted;
      if (action === 'approve') sweep.swept.approved++;
      else if (action === 'escalate') sweep.swept.escalated++;
      else if (action !== undefined) sweep.swept.timedOut++;
      this.waiters.wake(id);
      this.waiters.wake(executionId);
    }
  }
}

/** Whoever asked for the sweep has lost their credential meanwhile. */
function isOfTheCaller(error: unknown): boolean {
  return error instanceof Problem && error.code === 'UNAUTHENTICATED';
}
