import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import type { JsonObject } from '../../domain/json.js';
import { asService } from '../auth/call-context.js';
import { LOGGER } from '../logging/token.js';
import type { EffectKind } from './effects.js';
import { OutboxBell } from './outbox-bell.js';

export interface OutboxRow {
  organizationId: string;
  id: string;
  kind: EffectKind;
  payload: JsonObject;
  attempts: number;
}

/** Does what follows a commit. Called again after a failure or a crash, so it must bear repetition. */
export interface EffectHandler {
  readonly kind: EffectKind;
  handle(row: OutboxRow): Promise<void>;
}

const LOOK_EVERY_MS = 1_000;
const AT_ONCE = 32;
/** A claim holds this long; a worker that dies with it gives it back. */
const CLAIM_SECONDS = 30;
const LONGEST_PAUSE_SECONDS = 300;

/**
 * Works the outbox off. Claims are taken in a transaction of their own, with SKIP LOCKED, so any number of replicas may
 * work. Kinds without a handler in this build are left where they are, and counted in readiness.
 */
@Injectable()
export class OutboxWorker implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly handlers = new Map<EffectKind, EffectHandler>();
  private timer?: NodeJS.Timeout;
  private working: Promise<void> | undefined;
  private rungMeanwhile = false;
  private stopping = false;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
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

  async onApplicationShutdown(): Promise<void> {
    this.stopping = true;
    clearInterval(this.timer);
    await this.working;
  }

  /** Effects that wait for a handler which this build does not have. */
  async parked(): Promise<number> {
    const [row] = (await this.dataSource.query('select count(*)::integer as parked from outbox where kind <> all ($1)', [
      [...this.handlers.keys()],
    ])) as [{ parked: number }];
    return row.parked;
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
    if (this.handlers.size === 0) return [];
    const [rows] = (await this.dataSource.query(
      `update outbox o set available_at = clock_timestamp() + make_interval(secs => $2), attempts = o.attempts + 1
       from (select organization_id, id from outbox where kind = any ($1) and available_at <= clock_timestamp()
             order by available_at limit $3 for update skip locked) due
       where o.organization_id = due.organization_id and o.id = due.id
       returning o.organization_id as "organizationId", o.id, o.kind, o.payload, o.attempts`,
      [[...this.handlers.keys()], CLAIM_SECONDS, AT_ONCE],
    )) as [OutboxRow[], number];
    return rows;
  }

  private async handle(row: OutboxRow): Promise<void> {
    try {
      await asService('worker', () => this.handlers.get(row.kind)!.handle(row));
      await this.dataSource.query('delete from outbox where organization_id = $1 and id = $2', [row.organizationId, row.id]);
    } catch (error) {
      this.logger.error({ err: error, kind: row.kind, id: row.id, attempts: row.attempts }, 'an effect failed; it is tried again');
      const pause = Math.min(LONGEST_PAUSE_SECONDS, 2 ** Math.min(row.attempts, 10));
      await this.dataSource
        .query('update outbox set available_at = clock_timestamp() + make_interval(secs => $3) where organization_id = $1 and id = $2', [
          row.organizationId, row.id, pause,
        ])
        .catch(() => undefined);
    }
  }
}
