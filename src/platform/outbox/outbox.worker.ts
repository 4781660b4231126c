import { Inject, Injectable, type OnApplicationBootstrap, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { MaintenanceMode } from '../audit/maintenance-mode.js';
import { asService } from '../auth/access/call-context.js';
import { Problem } from '../http/reply/problem.js';
import { LOGGER } from '../logging/token.js';
import type { EffectKind } from './effects.js';
import { type ReservedSlot, OutboxSignal } from './outbox-signal.js';
import type { OutboxRow } from './outbox-row.js';
import { OutboxStore } from './outbox.store.js';

/** Carries out an effect of a commit. Called again after a failure or a crash, so it must be idempotent. */
export interface EffectHandler {
  readonly kind: EffectKind;
  /** Whether it ends within a second, so that a dispatched effect need not be claimed for long. */
  readonly isBrief?: boolean;
  handle(row: OutboxRow): Promise<void>;
}

/** Thrown by a handler for an effect that is not tried again: its row stays for an operator, and readiness counts it. */
export class Parked extends Error {
  constructor(because: string) {
    super(because);
    this.name = 'Parked';
  }
}

const LOOK_EVERY_MS = 1_000;
/** Fewer than the pool has connections: each effect takes one, and calls need some too. */
const AT_ONCE = 8;

/**
 * Works the outbox off. Claims are taken in a transaction of their own, with SKIP LOCKED, so any number of replicas may
 * work. Kinds without a handler in this build are left where they are, and counted in readiness.
 */
@Injectable()
export class OutboxWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly handlers = new Map<EffectKind, EffectHandler>();
  private timer?: NodeJS.Timeout;
  private readonly running = new Set<Promise<void>>();
  /** Slots that are reserved for effects which are being committed. */
  private reserved = 0;
  private claiming: Promise<void> | undefined;
  /** Whether there may be more than the last claim took. */
  private mayBeMore = false;
  private stopping = false;

  constructor(
    private readonly store: OutboxStore,
    private readonly signal: OutboxSignal,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly maintenance: MaintenanceMode,
  ) {}

  register(handler: EffectHandler): void {
    this.handlers.set(handler.kind, handler);
  }

  onApplicationBootstrap(): void {
    this.signal.listen({ notify: (kinds) => this.onCommitted(kinds), reserveSlot: (kind) => this.reserveSlot(kind) });
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS);
    this.look();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    clearInterval(this.timer);
    await this.claiming;
    await Promise.all(this.running);
  }

  /** Effects that wait for a handler which this build does not have, or were given up. */
  parked(): Promise<number> {
    return this.store.parked([...this.handlers.keys()]);
  }

  /** Polls only where this build handles one of the kinds. */
  private onCommitted(kinds: ReadonlySet<EffectKind>): void {
    if ([...kinds].some((kind) => this.handlers.has(kind))) this.look();
  }

  private look(): void {
    this.mayBeMore = true;
    this.fill();
  }

  /** No slot while rows are known to wait, which come first, or while a claim runs, which may take all free slots. */
  private reserveSlot(kind: EffectKind): ReservedSlot | undefined {
    if (!this.isWorking || this.mayBeMore || this.claiming !== undefined || this.free <= 0) return undefined;
    if (this.handlers.get(kind)?.isBrief !== true) return undefined;
    this.reserved++;
    const leave = () => {
      this.reserved--;
      this.fill();
    };
    return {
      start: (row) => {
        // After a stop of this worker the row is another server's, once the claim has ended.
        if (this.isWorking) this.start(row);
        leave();
      },
      giveUp: leave,
    };
  }

  private get isWorking(): boolean {
    return !this.stopping && this.maintenance.because === undefined;
  }

  private get free(): number {
    return AT_ONCE - this.running.size - this.reserved;
  }

  /** Claims as many rows as there are free slots: a slow effect keeps its own slot and delays no other. */
  private fill(): void {
    if (!this.isWorking || this.claiming || !this.mayBeMore || this.free <= 0) return;
    this.mayBeMore = false;
    this.claiming = this.claim(this.free).finally(() => {
      this.claiming = undefined;
      this.fill();
    });
  }

  private async claim(slots: number): Promise<void> {
    if (this.handlers.size === 0) return;
    try {
      const claimed = await this.store.claim([...this.handlers.keys()], slots);
      if (claimed.length === slots) this.mayBeMore = true;
      for (const row of claimed) this.start(row);
    } catch (error) {
      this.logger.warn({ err: error }, 'the outbox could not be read; the next look tries again');
    }
  }

  private start(row: OutboxRow): void {
    const run = this.handle(row).finally(() => {
      this.running.delete(run);
      this.fill();
    });
    this.running.add(run);
  }

  private async handle(row: OutboxRow): Promise<void> {
    try {
      await asService('worker', () => this.handlers.get(row.kind)!.handle(row));
      await this.store.done(row);
    } catch (error) {
      if (error instanceof Parked) return this.park(row, error);
      const what = { err: error, kind: row.kind, id: row.id, attempts: row.attempts };
      // The handler itself says that it cannot work now.
      if (error instanceof Problem && error.code === 'UNAVAILABLE') this.logger.warn(what, 'an effect has to wait; it is tried again');
      else this.logger.error(what, 'an effect failed; it is tried again');
      await this.store.later(row).catch(() => undefined);
    }
  }

  private async park(row: OutboxRow, { message: because }: Parked): Promise<void> {
    this.logger.error({ because, kind: row.kind, id: row.id, attempts: row.attempts }, 'an effect is given up, and waits for an operator');
    await this.store.park(row).catch(() => undefined);
  }
}
