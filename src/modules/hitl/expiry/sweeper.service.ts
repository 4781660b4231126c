import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Logger } from 'pino';
import { asService } from '../../../platform/auth/access/call-context.js';
import { scopeOfEverything } from '../../../platform/auth/access/scope.js';
import { ReservedPool } from '../../../platform/database/reserved-pool.js';
import { isPassing } from '../../../platform/http/reply/failure.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { BackoffList } from './sweep-batches.js';
import { SweepService } from './sweep.service.js';

const SWEEP_EVERY_MS = 1_000;
/** One for each partition: as many as the reserved pool has connections. */
const SWEEP_LOCKS = [715_517_004, 715_517_005];

/** Sweeps every second, on every server, on reserved connections that calls cannot use up. */
@Injectable()
export class Sweeper implements BeforeApplicationShutdown {
  private readonly backoff = new BackoffList();
  private sweeping: Promise<void> | undefined;
  private isStopping = false;

  constructor(
    private readonly sweeps: SweepService,
    private readonly reserve: ReservedPool,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Interval(SWEEP_EVERY_MS)
  tick(): void {
    if (this.isStopping) return;
    this.sweeping ??= asService('sweeper', () => this.sweep()).finally(() => (this.sweeping = undefined));
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.sweeping;
  }

  private async sweep(): Promise<void> {
    const kinds = ['window', 'reminder'] as const;
    const options = { scope: scopeOfEverything(), kinds, connections: this.reserve, backoff: this.backoff };
    try {
      await this.sweeps.sweep({ ...options, locks: SWEEP_LOCKS, isOver: () => this.isStopping });
    } catch (error) {
      // The database is unreachable or busy: the next tick tries again, and readiness reports it.
      if (!isPassing(error)) this.logger.error({ err: error }, 'the sweep failed; it comes back in a second');
    }
  }
}
