import { setTimeout as pause } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Logger } from 'pino';
import { asService } from '../../../platform/auth/access/call-context.js';
import { scopeOfEverything } from '../../../platform/auth/access/scope.js';
import { UnderWay } from '../../../platform/database/transaction/plan.js';
import { isPassing } from '../../../platform/http/reply/failure.js';
import { LOGGER } from '../../../platform/logging/token.js';
import type { ErasureKey } from './erasure.js';
import { ErasureStore } from './erasure.store.js';
import { ErasureSteps } from './erasure-steps.service.js';

const LOOK_EVERY_MS = 1_000;
const AT_ONCE = 20;
/** Steps of one erasure before another erasure has its turn. */
const STEPS_IN_A_TURN = 50;
/** How long a failed erasure is set aside, so that the others go on. */
const SET_ASIDE_MS = 30_000;
/** How long until rows that were left are searched again. */
const LATER_MS = 5_000;
/** After so many days without a confirmation an erasure is declined. */
const DAYS_TO_CONFIRM = 7;

/**
 * Runs erasures, on the server that gets the lock. The whole state is in the database, so that another server goes on where one has died.
 */
@Injectable()
export class ErasureJob implements BeforeApplicationShutdown {
  private readonly setAside = new Map<string, number>();
  private working: Promise<void> | undefined;
  private isStopping = false;

  constructor(
    private readonly steps: ErasureSteps,
    private readonly store: ErasureStore,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Interval(LOOK_EVERY_MS)
  tick(): void {
    void this.goOn();
  }

  /** Runs erasures for as long as the caller likes to wait; the rest is done behind the answer. */
  async hurry(milliseconds: number): Promise<void> {
    const limit = new AbortController();
    await Promise.race([this.goOn(), pause(milliseconds, undefined, { signal: limit.signal }).catch(() => undefined)]);
    limit.abort();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.working;
  }

  private goOn(): Promise<void> {
    if (this.isStopping) return Promise.resolve();
    this.working ??= asService('worker', () => this.work()).finally(() => (this.working = undefined));
    return this.working;
  }

  private async work(): Promise<void> {
    try {
      await this.store.decline(scopeOfEverything(), DAYS_TO_CONFIRM);
      for (let isMore = true; isMore && !this.isStopping; ) isMore = await this.turns();
    } catch (error) {
      // Another server has the lock, or the database is away or busy: the next tick goes on.
      if (!(error instanceof UnderWay) && !isPassing(error)) this.logger.error({ err: error }, 'erasures could not be gone on with');
    }
  }

  private async turns(): Promise<boolean> {
    const running = await this.store.running(scopeOfEverything(), AT_ONCE);
    const free = running.filter(({ id }) => (this.setAside.get(id) ?? 0) < Date.now());
    let isMore = false;
    for (const key of free) isMore = (await this.turn(key)) || isMore;
    return isMore;
  }

  private async turn(key: ErasureKey): Promise<boolean> {
    try {
      for (let step = 0; step < STEPS_IN_A_TURN; step++) {
        const stepped = this.isStopping ? 'end' : await this.steps.step(key);
        if (stepped === 'later') this.setAside.set(key.id, Date.now() + LATER_MS);
        if (stepped !== 'more') return false;
        // Calls come first: a long search gives way between its steps.
        await pause(0);
      }
      return true;
    } catch (error) {
      if (error instanceof UnderWay || isPassing(error)) throw error;
      this.setAside.set(key.id, Date.now() + SET_ASIDE_MS);
      this.logger.error({ err: error, erasureId: key.id }, 'the erasure could not be gone on with; it is tried again');
      return false;
    }
  }
}
