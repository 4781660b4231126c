import { Inject, Injectable, type OnApplicationBootstrap, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { asService } from '../auth/call-context.js';
import { LOGGER } from '../logging/token.js';
import type { EffectKind } from './effects.js';
import { OutboxBell } from './outbox-bell.js';
import { type OutboxRow, OutboxStore } from './outbox.store.js';

/** Does what follows a commit. Called again after a failure or a crash, so it must bear repetition. */
export interface EffectHandler {
  readonly kind: EffectKind;
  handle(row: OutboxRow): Promise<void>;
}

const LOOK_EVERY_MS = 1_000;
/** Fewer than the pool has connections: each takes one, and calls want theirs too. */
const AT_ONCE = 4;

/**
 * Works the outbox off. Claims are taken in a transaction of their own, with SKIP LOCKED, so any number of replicas may
 * work. Kinds without a handler in this build are left where they are, and counted in readiness.
 */
@Injectable()
export class OutboxWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly handlers = new Map<EffectKind, EffectHandler>();
  private timer?: NodeJS.Timeout;
  private working: Promise<void> | undefined;
  private rungMeanwhile = false;
  private stopping = false;

  constructor(
    private readonly store: OutboxStore,
    private readonly bell: OutboxBell,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  register(handler: EffectHandler): void {
    this.handlers.set(handler.kind, handler);
  }

  onApplicationBootstrap(): void {
    this.bell.onRing(() => this.look());
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS);
    this.look();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    clearInterval(this.timer);
    await this.working;
  }

  /** Effects that wait for a handler which this build does not have. */
  parked(): Promise<number> {
    return this.store.parked([...this.handlers.keys()]);
  }

  private look(): void {
    if (this.stopping) return;
    if (this.working) {
      this.rungMeanwhile = true;
      return;
    }
    this.working = this.work().finally(() => {
      this.working = undefined;
      if (this.rungMeanwhile) {
        this.rungMeanwhile = false;
        this.look();
      }
    });
  }

  private async work(): Promise<void> {
    try {
      for (let claimed = await this.claim(); claimed.length > 0 && !this.stopping; claimed = await this.claim()) {
        await Promise.all(claimed.map((row) => this.handle(row)));
      }
    } catch (error) {
      this.logger.warn({ err: error }, 'the outbox could not be read; the next look tries again');
    }
  }

  private async claim(): Promise<OutboxRow[]> {
    return this.handlers.size === 0 ? [] : this.store.claim([...this.handlers.keys()], AT_ONCE);
  }

  private async handle(row: OutboxRow): Promise<void> {
    try {
      await asService('worker', () => this.handlers.get(row.kind)!.handle(row));
      await this.store.done(row);
    } catch (error) {
      this.logger.error({ err: error, kind: row.kind, id: row.id, attempts: row.attempts }, 'an effect failed; it is tried again');
      await this.store.later(row).catch(() => undefined);
    }
  }
}
