import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Logger } from 'pino';
import { MaintenanceMode } from '../../../platform/audit/maintenance-mode.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { Semaphore } from '../../../platform/wake/semaphore.js';
import { DeliverService } from './deliver.service.js';
import { DeliverySignal } from './delivery-signal.js';
import { DeliveryStore, type Target } from './delivery.store.js';
import { Receivers } from './receivers.js';

const LOOK_EVERY_MS = 1_000;
/** Deliveries on their way at once; each target has two of these places at most (deliver.service.ts). */
const PLACES = 16;
/** Deliveries of one claim: so many statements are saved, and so many wait where the receiver hangs. */
const CLAIMED_AT_ONCE = 20;

/**
 * Works off what is to be delivered, target by target: each that something is due for has a lane of its own, so that a receiver that
 * hangs keeps none of the others waiting. Any number of servers may work; a claim skips what another one has.
 */
@Injectable()
export class DeliveryWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly lanes = new Map<string, Promise<void>>();
  private readonly places = new Semaphore(PLACES);
  private looking: Promise<void> | undefined;
  private lookAgain = false;
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
    this.looking ??= this.openLanes().finally(() => {
      this.looking = undefined;
      if (this.lookAgain) this.look();
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.looking;
    await Promise.all(this.lanes.values());
  }

  private get isWorking(): boolean {
    return this.isStarted && !this.isStopping && this.maintenance.because === undefined;
  }

  private async openLanes(): Promise<void> {
    try {
      for (const target of await this.store.dueTargets()) {
        const key = `${target.organizationId} ${target.channel}`;
        if (this.lanes.size >= PLACES || !this.isWorking) return;
        if (this.lanes.has(key) || this.receivers.of(target).isResting) continue;
        this.lanes.set(key, this.work(target).finally(() => this.lanes.delete(key)));
      }
    } catch (error) {
      this.logger.warn({ err: error }, 'deliveries could not be read; the next look tries again');
    }
  }

  /** Until nothing is due, or the target fails: then the next look comes back to it. */
  private async work(target: Target): Promise<void> {
    try {
      for (let goesOn = true; goesOn && this.isWorking;) {
        const claimed = await this.store.claim(target, CLAIMED_AT_ONCE);
        if (claimed.length === 0) return;
        const settled = await this.deliver.deliver(target, claimed, this.places);
        await this.store.settle(settled);
        goesOn = settled.every(({ state }) => state !== 'again');
      }
    } catch (error) {
      // What was claimed comes back when its lease is over.
      this.logger.warn({ err: error, ...target }, 'deliveries to a target were broken off');
    }
  }
}
