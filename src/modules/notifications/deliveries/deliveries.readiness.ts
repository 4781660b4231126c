import { Injectable } from '@nestjs/common';
import { type ReadinessFact, ReadinessFacts } from '../../../platform/audit/readiness-facts.js';
import { Metrics, reading } from '../../../platform/metrics/metrics.js';
import { ReservedPool } from '../../../platform/database/reserved-pool.js';

/** However many wait, counting them takes no longer. */
const MOST_COUNTED = 10_000;

/** Readiness shows how many deliveries wait: many that do not become fewer mean that a receiver, or a way out, is gone. */
@Injectable()
export class DeliveriesReadiness implements ReadinessFact {
  readonly name = 'deliveries';

  constructor(
    private readonly reserve: ReservedPool,
    facts: ReadinessFacts,
    metrics: Metrics,
  ) {
    facts.register(this);
    metrics.ask('deliveries', async () =>
      [reading('countersign_deliveries_waiting', (await this.look()).deliveriesWaiting, {})]);
  }

  async look(): Promise<{ deliveriesWaiting: number }> {
    const [row] = await this.reserve.run(
      `select count(*)::integer as waiting from (select from notification_deliveries where state = 'waiting' limit $1) counted`,
      [MOST_COUNTED],
    );
    return { deliveriesWaiting: row!.waiting as number };
  }
}
