import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Logger } from 'pino';
import { DataSource, type EntityManager } from 'typeorm';
import { MaintenanceMode } from '../audit/maintenance-mode.js';
import { LOGGER } from '../logging/token.js';
import { Metrics } from '../metrics/metrics.js';

const CLEAN_EVERY_MS = 60_000;
const AT_ONCE = 5_000;
const JANITOR_LOCK = 715_517_003;

/** What is spent, and when. Each statement deletes at most `$1` rows, of tables of the platform's own. */
const SPENT = [
  `delete from idempotency_keys where (organization_id, scope) in
     (select organization_id, scope from idempotency_keys where created_at < clock_timestamp() - interval '24 hours' limit $1)`,
];

/** Deletes at most so many spent rows of a module's own, and says how many. */
export type CleanupStep = (tx: EntityManager, limit: number) => Promise<number>;

/** A step of one statement, whose `$1` is the most rows that it deletes; `parameters` follow. */
export const cleanupStep = (statement: string, ...parameters: readonly unknown[]): CleanupStep => async (manager, limit) => {
  const [, count] = await manager.query<[unknown[], number]>(statement, [limit, ...parameters]);
  return count;
};

/**
 * Deletes what is spent, in batches, on one replica at a time: once a minute, and when a server starts, so that it also comes where
 * none runs for a minute. Modules register what of theirs is spent.
 */
@Injectable()
export class Janitor implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private cleaning: Promise<void> | undefined;
  private isStopping = false;
  private readonly steps: CleanupStep[] = SPENT.map((statement) => cleanupStep(statement));

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly maintenance: MaintenanceMode,
    private readonly metrics: Metrics,
  ) {}

  register(step: CleanupStep): void {
    this.steps.push(step);
  }

  onApplicationBootstrap(): void {
    this.tick();
  }

  @Interval(CLEAN_EVERY_MS)
  tick(): void {
    this.cleaning ??= this.clean().finally(() => (this.cleaning = undefined));
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.cleaning;
  }

  private async clean(): Promise<void> {
    if (this.maintenance.because !== undefined) return;
    try {
      for (const step of this.steps) {
        let deleted = AT_ONCE;
        while (deleted === AT_ONCE && !this.isStopping) deleted = await this.batch(step);
      }
      this.metrics.count('countersign_sweeps_total', { sweep: 'spent_rows', outcome: 'done' });
    } catch (error) {
      this.metrics.count('countersign_sweeps_total', { sweep: 'spent_rows', outcome: 'failed' });
      this.logger.warn({ err: error }, 'the janitor could not finish; it comes back in a minute');
    }
  }

  private async batch(step: CleanupStep): Promise<number> {
    return this.dataSource.transaction(async (manager) => {
      const [lock] = await manager.query<[{ mine: boolean }]>('select pg_try_advisory_xact_lock($1) as mine', [JANITOR_LOCK]);
      return lock.mine ? step(manager, AT_ONCE) : 0;
    });
  }
}
