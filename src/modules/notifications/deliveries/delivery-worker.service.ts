import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Logger } from 'pino';
import { MaintenanceMode } from '../../../platform/audit/maintenance-mode.js';
import { isPassing } from '../../../platform/http/reply/failure.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { Semaphore } from '../../../platform/wake/semaphore.js';
import { DeliverService } from './deliver.service.js';
import { DeliverySignal } from './delivery-signal.js';
import { DeliveryStore, type Target } from './delivery.store.js';
import { Receivers } from './receivers.js';

const LOOK_EVERY_MS = 1_000;
/** Deliveries on their way at once; each target has two of these slots at most (deliver.service.ts). */
const SLOTS = 16;
/** Targets of slow receivers that are worked off at a time, so that slots for the others stay free. */
const SLOW_TARGETS = 4;
/** Deliveries of one claim: so many statements are saved, and so many wait where the receiver hangs. */
const CLAIMED_AT_ONCE = 20;

/**
 * Works off what is to be delivered, target by target: each that something is due for is worked off by itself, so that a receiver
 * that hangs keeps none of the others waiting. Any number of servers may work; a claim skips what another one has.
 */
@Injectable()
export class DeliveryWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly running = new Map<string, Promise<void>>();
  private readonly slots = new Semaphore(SLOTS);
  private looking: Promise<void> | undefined;
  private lookAgain = false;
  /** Targets at work whose receivers answer slowly, and the target that was begun last. */
  private slowTargets = 0;
  private lastKey = '';
  private isStarted = false;
  private isStopping = false;

  constructor(
    private readonly store: DeliveryStore,
    private readonly deliver: DeliverService,
    private readonly receivers: Receivers,
    private readonly maintenance: MaintenanceMode,
    signal: DeliverySignal,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    signal.listen(() => this.look());
  }

  onApplicationBootstrap(): void {
    this.isStarted = true;
    this.look();
  }

  @Interval(LOOK_EVERY_MS)
  look(): void {
    if (!this.isWorking) return;
    this.lookAgain = this.looking !== undefined;
    this.looking ??= this.startDue().finally(() => {
      this.looking = undefined;
      if (this.lookAgain) this.look();
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.looking;
    await Promise.all(this.running.values());
  }

  private get isWorking(): boolean {
    return this.isStarted && !this.isStopping && this.maintenance.because === undefined;
  }

  private async startDue(): Promise<void> {
    try {
      for (const target of inTurn(await this.store.dueTargets(), this.lastKey)) {
        const key = keyOf(target);
        if (this.running.size >= SLOTS || !this.isWorking) return;
        const receiver = this.receivers.of(target);
        if (this.running.has(key) || (receiver.isSlow && this.slowTargets >= SLOW_TARGETS)) continue;
        if (receiver.isResting && !(await this.deliver.isChanged(target))) continue;
        this.start(target, receiver.isSlow);
      }
    } catch (error) {
      if (!isPassing(error)) this.logger.error({ err: error }, 'deliveries could not be read; the next look tries again');
    }
  }

  private start(target: Target, isSlow: boolean): void {
    const key = this.lastKey = keyOf(target);
    if (isSlow) this.slowTargets++;
    this.running.set(key, this.work(target).finally(() => {
      this.running.delete(key);
      if (isSlow) this.slowTargets--;
    }));
  }

  /** Until nothing is due, its turn is over, or the target fails: then the next look comes back to it. */
  private async work(target: Target): Promise<void> {
    try {
      for (let goesOn = true; goesOn && this.isWorking;) {
        const claimed = await this.store.claim(target, CLAIMED_AT_ONCE);
        if (claimed.length === 0) return;
        goesOn = await this.deliver.deliver(target, claimed, this.slots, (settled) => this.store.settle(settled));
      }
    } catch (error) {
      // What was claimed comes back when its lease is over.
      this.logger.warn({ err: error, ...target }, 'deliveries to a target were broken off');
    }
  }
}

const keyOf = ({ organizationId, channel }: Target): string => `${organizationId} ${channel}`;

/** Those behind the one that was begun last come first, so that each has its turn. */
function inTurn(targets: readonly Target[], lastKey: string): Target[] {
  return [...targets.filter((one) => keyOf(one) > lastKey), ...targets.filter((one) => keyOf(one) <= lastKey)];
}
