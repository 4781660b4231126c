import { Injectable } from '@nestjs/common';
import { ReservedPool } from '../../../platform/database/reserved-pool.js';
import { Metrics, reading } from '../../../platform/metrics/metrics.js';

const MOST_COUNTED = 100_000;

/** How many requests wait for a decision in the whole installation, and for how long the oldest has. */
@Injectable()
export class OpenRequestsQuery {
  constructor(reserve: ReservedPool, metrics: Metrics) {
    metrics.ask('open requests', async () => {
      const [row] = await reserve.run(
        `select count(*)::integer as open, coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0)::float8 as age
         from (select created_at from hitl_requests where status in ('pending', 'escalated') limit $1) counted`,
        [MOST_COUNTED],
      );
      return [
        reading('countersign_open_requests', row!.open as number, {}),
        reading('countersign_oldest_open_request_age_seconds', Math.max(0, row!.age as number), {}),
      ];
    });
  }
}
