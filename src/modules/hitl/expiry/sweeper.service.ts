import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Logger } from 'pino';
import { asService } from '../../../platform/auth/access/call-context.js';
import { scopeOfEverything } from '../../../platform/auth/access/scope.js';
import { ReservedPool } from '../../../platform/database/reserved-pool.js';
import { isPassing } from '../../../platform/http/reply/failure.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { SetAside } from './sweep-batches.js';
import { SweepService } from './sweep.service.js';

const SWEEP_EVERY_MS = 1_000;
/** One for each lane: as many as the reserve has connections for. */
const SWEEP_LOCKS = [715_517_004, 715_517_005];

/** Looks every second for what is due, on every server, on connections that calls cannot use up. */
@Injectable()
export class Sweeper implements BeforeApplicationShutdown {
  private readonly setAside = new SetAside();
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
    const order = { scope: scopeOfEverything(), kinds: ['window', 'reminder'], lane: this.reserve, setAside: this.setAside } as const;
    try {
      await this.sweeps.sweep({ ...order, lanes: SWEEP_LOCKS, isOver: () => this.isStopping });
    } catch (error) {
      // The database is away, or busy: the next tick looks again, and readiness tells.
      if (!isPassing(error)) this.logger.error({ err: error }, 'the sweep failed; it comes back in a second');
    }
  }
}
