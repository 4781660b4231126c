import { Inject, Injectable, type OnApplicationBootstrap, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { MaintenanceMode } from '../audit/maintenance-mode.js';
import { asService } from '../auth/access/call-context.js';
import { isPassing } from '../http/reply/failure.js';
import { Problem } from '../http/reply/problem.js';
import { LOGGER } from '../logging/token.js';
import { Metrics, reading } from '../metrics/metrics.js';
import { ClaimLoop, type Room } from './claim-loop.js';
import { type EffectHandler, type EffectSetHandler, Parked } from './effect-handler.js';
import type { EffectKind } from './effects.js';
import { type ReservedSlot, OutboxSignal } from './outbox-signal.js';
import type { OutboxRow } from './outbox-row.js';
import { OutboxStore } from './outbox.store.js';

const LOOK_EVERY_MS = 1_000;
/** Fewer than the pool has connections: each effect takes one, and calls need some too. */
const AT_ONCE = 8;

/** A handler of sets, and how it takes them: one set at a time. */
interface SetLoop {
  readonly loop: ClaimLoop;
  readonly handler: EffectSetHandler;
  running?: Promise<void>;
}

/**
 * Works the outbox off. Claims are taken in a transaction of their own, with SKIP LOCKED, so any number of replicas may
 * work. Kinds without a handler in this build are left where they are, and counted in readiness.
 */
@Injectable()
export class OutboxWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly handlers = new Map<EffectKind, EffectHandler>();
  private readonly sets = new Map<EffectKind, SetLoop>();
  private readonly loop: ClaimLoop;
  private timer?: NodeJS.Timeout;
  private readonly running = new Map<Promise<void>, EffectKind>();
  /** Slots that are reserved for effects which are being committed. */
  private reserved = 0;
  private stopping = false;

  constructor(
    private readonly store: OutboxStore,
    private readonly signal: OutboxSignal,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly maintenance: MaintenanceMode,
    private readonly metrics: Metrics,
  ) {
    this.loop = new ClaimLoop({
      room: () => this.room(),
      claim: (room) => this.claim(room),
      start: (rows) => rows.forEach((row) => this.start(row)),
    });
  }

  register(handler: EffectHandler): void {
    this.handlers.set(handler.kind, handler);
  }

  registerSet(handler: EffectSetHandler): void {
    const set: SetLoop = {
      handler,
      loop: new ClaimLoop({
        room: () => ({
          kinds: new Map([[handler.kind, handler.setSize]]), total: this.isWorking && !set.running ? handler.setSize : 0,
        }),
        claim: (room) => this.claim(room),
        start: (rows) => this.startSet(set, rows),
      }),
    };
    this.sets.set(handler.kind, set);
  }

  onApplicationBootstrap(): void {
    this.metrics.ask('outbox lag', async () => (await this.store.lags(this.kinds)).map(({ kind, seconds }) =>
      reading('countersign_outbox_lag_seconds', seconds, { kind })));
    this.metrics.ask('parked effects', async () => [reading('countersign_parked_effects', await this.parked(), {})]);
    this.signal.listen({ notify: (kinds) => this.look(kinds), reserveSlot: (kind) => this.reserveSlot(kind) });
    this.timer = setInterval(() => this.look(this.kinds), LOOK_EVERY_MS);
    this.look(this.kinds);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    clearInterval(this.timer);
    const sets = [...this.sets.values()];
    await Promise.all([this.loop.ended(), ...sets.map(({ loop }) => loop.ended())]);
    await Promise.all([...this.running.keys(), ...sets.map(({ running }) => running)]);
  }

  /** Effects that wait for a handler which this build does not have, or were given up. */
  parked(): Promise<number> {
    return this.store.parked(this.kinds);
  }

  private get kinds(): EffectKind[] {
    return [...this.handlers.keys(), ...this.sets.keys()];
  }

  /** Polls only for kinds that this build handles. */
  private look(kinds: Iterable<EffectKind>): void {
    const single: EffectKind[] = [];
    for (const kind of kinds) {
      if (this.handlers.has(kind)) single.push(kind);
      else this.sets.get(kind)?.loop.look([kind]);
    }
    if (single.length > 0) this.loop.look(single);
  }

  /** No slot while rows are known to wait, which come first, or while a claim runs, which may take all free slots. */
  private reserveSlot(kind: EffectKind): ReservedSlot | undefined {
    if (!this.isWorking || !this.loop.isIdle || this.free <= 0) return undefined;
    if (this.handlers.get(kind)?.isBrief !== true) return undefined;
    this.reserved++;
    const leave = () => {
      this.reserved--;
      this.loop.fill();
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

  /** As many rows as there are free slots: a slow effect keeps its own slot and delays no other. */
  private room(): Room {
    const total = this.isWorking ? this.free : 0;
    const busy = [...this.running.values()];
    const kinds = [...this.handlers].map(([kind, { atOnce = AT_ONCE }]) =>
      [kind, Math.min(total, atOnce - busy.filter((one) => one === kind).length)] as const);
    return { kinds: new Map(kinds), total };
  }

  private async claim({ kinds, total }: Room): Promise<readonly OutboxRow[]> {
    try {
      return await this.store.claim(kinds, total);
    } catch (error) {
      if (!isPassing(error)) this.logger.error({ err: error }, 'the outbox could not be read; the next look tries again');
      return [];
    }
  }

  private start(row: OutboxRow): void {
    const run = this.handle(row).finally(() => {
      this.running.delete(run);
      this.loop.fill();
    });
    this.running.set(run, row.kind);
  }

  private startSet(set: SetLoop, rows: readonly OutboxRow[]): void {
    set.running = this.handleSet(set.handler, rows).finally(() => {
      delete set.running;
      set.loop.fill();
    });
  }

  private async handle(row: OutboxRow): Promise<void> {
    try {
      await asService('worker', () => this.handlers.get(row.kind)!.handle(row));
      await this.store.done(row);
    } catch (error) {
      if (error instanceof Parked) return this.park(row, error);
      await this.tryLater(row, error);
    }
  }

  /** A set that fails is taken apart, so that one bad effect fails alone. */
  private async handleSet(handler: EffectSetHandler, rows: readonly OutboxRow[]): Promise<void> {
    try {
      await asService('worker', () => handler.handleSet(rows));
      await this.store.allDone(rows);
    } catch (error) {
      const [only] = rows;
      if (rows.length === 1) return error instanceof Parked ? this.park(only!, error) : this.tryLater(only!, error);
      const half = rows.length >> 1;
      await this.handleSet(handler, rows.slice(0, half));
      await this.handleSet(handler, rows.slice(half));
    }
  }

  private async tryLater(row: OutboxRow, error: unknown): Promise<void> {
    const what = { err: error, kind: row.kind, id: row.id, attempts: row.attempts };
    // The handler itself says that it cannot work now.
    if (error instanceof Problem && error.code === 'UNAVAILABLE') this.logger.warn(what, 'an effect has to wait; it is tried again');
    else this.logger.error(what, 'an effect failed; it is tried again');
    await this.store.later(row).catch(() => undefined);
  }

  private async park(row: OutboxRow, { message: because }: Parked): Promise<void> {
    this.logger.error({ because, kind: row.kind, id: row.id, attempts: row.attempts }, 'an effect is given up, and waits for an operator');
    await this.store.park(row).catch(() => undefined);
  }
}
