import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Logger } from 'pino';
import { asService } from '../../../platform/auth/access/call-context.js';
import { scopeOfEverything } from '../../../platform/auth/access/scope.js';
import { ReservedPool } from '../../../platform/database/reserved-pool.js';
import { isPassing } from '../../../platform/http/reply/failure.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { BackoffList } from './expiry-batches.js';
import { RequestExpiryService } from './request-expiry.service.js';

const EXPIRY_INTERVAL_MS = 1_000;
/** One for each partition: as many as the reserved pool has connections. */
const PARTITION_LOCKS = [715_517_004, 715_517_005];

/** Expires what is due every second, on every server, on reserved connections that calls cannot use up. */
@Injectable()
export class ExpirySchedule implements BeforeApplicationShutdown {
  private readonly backoff = new BackoffList();
  private running: Promise<void> | undefined;
  private isStopping = false;

  constructor(
    private readonly expiry: RequestExpiryService,
    private readonly reserve: ReservedPool,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly metrics: Metrics,
  ) {}

  @Interval(EXPIRY_INTERVAL_MS)
  tick(): void {
    if (this.isStopping) return;
    this.running ??= asService('sweeper', () => this.run()).finally(() => (this.running = undefined));
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.running;
  }

  private async run(): Promise<void> {
    const kinds = ['window', 'reminder'] as const;
    const options = { scope: scopeOfEverything(), kinds, connections: this.reserve, backoff: this.backoff };
    try {
      await this.expiry.run({ ...options, locks: PARTITION_LOCKS, isOver: () => this.isStopping });
      this.metrics.count('countersign_sweeps_total', { sweep: 'requests', outcome: 'done' });
    } catch (error) {
      this.metrics.count('countersign_sweeps_total', { sweep: 'requests', outcome: 'failed' });
      // The database is unreachable or busy: the next tick tries again, and readiness reports it.
      if (!isPassing(error)) this.logger.error({ err: error }, 'requests could not be expired; the next try is in a second');
    }
  }
}
