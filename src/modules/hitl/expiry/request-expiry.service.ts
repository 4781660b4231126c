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
import { byAgent, halves, partitionsOf, BackoffList, batchesOf } from './expiry-batches.js';
import { type Outcome, TimeOutService } from './time-out.service.js';

/** Requests that one search finds. New ones are found by the next, so that none waits until thousands of others have ended. */
const FOUND_AT_MOST = 4_000;
/** Wait for a busy lock: longer than a unit of work takes, and short beside the second within which a request has to end. */
const LOCK_WAIT_MS = 250;
/** Wait for the locks of all busy agents together, after each search. */
const BUSY_RETRY_MS = 500;
const BUSY_BACKOFF_MS = 1_000;
const FAILED_BACKOFF_MS = 60_000;

export interface ExpiryResult {
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
  readonly connections: WorkConnections;
  /**
   * One advisory lock for each partition of the due requests. Partitions are ended side by side, each on a connection of its own; its
   * lock keeps other servers off the same partition. Without locks there is one partition.
   */
  readonly locks?: readonly number[];
  readonly backoff: BackoffList;
  readonly isOver: () => boolean;
}

/** The options, the result so far, and the requests whose agents' heads were locked. `lock` is that of the partition. */
interface ExpiryRun extends ExpiryOptions {
  readonly result: ExpiryResult;
  readonly busy: DueRequest[];
  /** `isBroken`: a partition has failed, or another server is working on it, so the others end too. */
  readonly progress: { moved: number; isBroken: boolean };
  readonly lock: number | undefined;
}

/** For a run that a caller asked for: one partition, without a lock. */
const WITHOUT_LOCK = [undefined];

/**
 * Ends due requests and gives reminders, in sets: found without locks, then ended in one unit of work for each set. Agents whose heads
 * are locked are left out and retried by themselves, with a short wait; a set that fails is divided until the failing request is alone.
 * Any number of servers may do this at once: each request is checked again under its agent's head.
 */
@Injectable()
export class RequestExpiryService {
  constructor(
    private readonly due: DueRequestsQuery,
    private readonly requests: HitlRequestStore,
    private readonly timingOut: TimeOutService,
    private readonly reminding: RemindService,
    private readonly waiters: Waiters,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Goes on until nothing more is due. Ends early, and says so, when `isOver`, and where another server has the partition. */
  async run(options: ExpiryOptions): Promise<ExpiryResult> {
    const result: ExpiryResult = { checked: 0, timedOut: 0, approved: 0, escalated: 0 };
    const run: ExpiryRun = { ...options, result, busy: [], progress: { moved: 0, isBroken: false }, lock: options.locks?.[0] };
    try {
      while (await this.round(run));
    } catch (error) {
      if (!(error instanceof UnderWay)) throw error;
    }
    return result;
  }

  /** @returns whether there is more */
  private async round(run: ExpiryRun): Promise<boolean> {
    let isFull = false;
    const movedBefore = run.progress.moved;
    for (const kind of run.kinds) {
      const found = await this.due.find(run.scope, kind, FOUND_AT_MOST, run.backoff.current(), run.connections.run);
      isFull ||= found.length === FOUND_AT_MOST;
      if (kind === 'window') run.result.checked += found.length;
      await this.endAll(run, kind, found);
      if (this.isOver(run)) return false;
      await this.retryBusy(run, kind);
    }
    return isFull && run.progress.moved > movedBefore && !this.isOver(run);
  }

  /** Resolves or rejects once every partition has ended. */
  private async endAll(run: ExpiryRun, kind: DueKind, found: readonly DueRequest[]): Promise<void> {
    const keys = run.locks ?? WITHOUT_LOCK;
    const partitions = partitionsOf(found, keys.length).map((due, i) => this.endPartition({ ...run, lock: keys[i] }, kind, due));
    for (const result of await Promise.allSettled(partitions)) if (result.status === 'rejected') throw result.reason;
  }

  private async endPartition(run: ExpiryRun, kind: DueKind, due: readonly DueRequest[]): Promise<void> {
    try {
      for (const set of batchesOf(due)) {
        if (run.progress.isBroken || this.isOver(run)) return;
        await this.endSet(run, kind, set);
      }
    } catch (error) {
      run.progress.isBroken = true;
      throw error;
    }
  }

  private isOver({ isOver, result }: ExpiryRun): boolean {
    if (isOver()) result.more = true;
    return result.more === true;
  }

  private async retryBusy(run: ExpiryRun, kind: DueKind): Promise<void> {
    const until = performance.now() + BUSY_RETRY_MS;
    for (const requests of byAgent(run.busy.splice(0))) {
      if (performance.now() < until) {
        for (const set of batchesOf(requests)) await this.endSet(run, kind, set, LOCK_WAIT_MS);
      } else run.backoff.agent(requests[0]!.agentId, BUSY_BACKOFF_MS);
    }
  }

  private async endSet(run: ExpiryRun, kind: DueKind, set: readonly DueRequest[], patienceMs?: number): Promise<void> {
    try {
      const outcomes = await this.endWithin(run, kind, set, patienceMs);
      if (patienceMs === undefined) run.busy.push(...set.filter(({ id }) => !outcomes.has(id)));
      this.count(run, set, outcomes);
    } catch (error) {
      if (error instanceof UnderWay || isCallersFault(error)) throw error;
      if (isLockTimeout(error)) return this.endParts(run, kind, byAgent(set));
      // Nothing can be ended now; the next run tries again.
      if (isPassing(error)) throw error;
      if (set.length > 1) return this.endParts(run, kind, halves(set), patienceMs);
      this.logger.error({ err: error, hitlRequestId: set[0]!.id }, 'a request could not be ended; it is tried again in a minute');
      run.backoff.request(set[0]!.id, FAILED_BACKOFF_MS);
    }
  }

  private async endParts(run: ExpiryRun, kind: DueKind, parts: readonly (readonly DueRequest[])[], patienceMs?: number): Promise<void> {
    // A single agent whose head stays locked is left out for a while.
    if (parts.length === 1) return run.backoff.agent(parts[0]![0]!.agentId, BUSY_BACKOFF_MS);
    for (const part of parts) await this.endSet(run, kind, part, patienceMs);
  }

  private endWithin(
    { connections, lock }: ExpiryRun, kind: DueKind, set: readonly DueRequest[], patienceMs: number | undefined,
  ): Promise<Map<string, Outcome | undefined>> {
    const plan: Plan = {
      chains: byAgent(set).map(([one]) => agentChain(one!.organizationId, one!.agentId)),
      judges: [...new Set(set.map(({ organizationId }) => organizationId))],
      leavesFacts: true, evenIfClosed: true, patienceMs: LOCK_WAIT_MS,
      ...(patienceMs === undefined ? { onlyFree: true } : {}),
      ...(lock === undefined ? {} : { alone: lock }),
    };
    return connections.work.run(plan, async (tx) => {
      const isFree = ({ organizationId, agentId }: DueRequest) => tx.hasLocked(agentChain(organizationId, agentId));
      const found = await this.requests.readAll(tx, set.filter(isFree));
      const outcomes = kind === 'window'
        ? await this.timingOut.timeOutAll(tx, found, 'window', 'system')
        : await this.reminding.remindAll(tx, found);
      return new Map(found.map(({ id }, i) => [id, outcomes[i]]));
    });
  }

  private count(run: ExpiryRun, set: readonly DueRequest[], outcomes: ReadonlyMap<string, Outcome | undefined>): void {
    for (const { id, executionId } of set) {
      if (!outcomes.has(id)) continue;
      const outcome = outcomes.get(id);
      if (outcome === undefined || 'code' in outcome) {
        run.backoff.request(id, BUSY_BACKOFF_MS);
        continue;
      }
      run.progress.moved++;
      const { action } = outcome.accepted;
      if (action === 'approve') run.result.approved++;
      else if (action === 'escalate') run.result.escalated++;
      else if (action !== undefined) run.result.timedOut++;
      this.waiters.wake(id);
      this.waiters.wake(executionId);
    }
  }
}

/** Whether the caller has lost their credential meanwhile. */
function isCallersFault(error: unknown): boolean {
  return error instanceof Problem && error.code === 'UNAUTHENTICATED';
}
