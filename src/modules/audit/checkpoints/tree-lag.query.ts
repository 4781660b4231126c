import { Injectable } from '@nestjs/common';
import { ReservedPool } from '../../../platform/database/reserved-pool.js';
import { Metrics, reading } from '../../../platform/metrics/metrics.js';
import { UnanchoredAge } from '../anchors/unanchored-age.js';

const MOST_COUNTED = 10_000;

/** How far trees, checkpoints and anchors are behind the entries. */
@Injectable()
export class TreeLagQuery {
  constructor(reserve: ReservedPool, unanchored: UnanchoredAge, metrics: Metrics) {
    metrics.watch(() => [reading('countersign_unanchored_seconds', unanchored.seconds, {})]);
    metrics.ask('trees', async () => {
      const [row] = await reserve.run(
        `select (select coalesce(sum(cardinality(seqs)), 0)::integer from (select seqs from audit_tree_queue limit $1) queued) as leaves,
           (select extract(epoch from clock_timestamp() - made_at)::float8 from audit_checkpoints
            where organization_id = 'platform' order by size desc limit 1) as age`,
        [MOST_COUNTED],
      );
      const age = row!.age as number | null;
      return [
        reading('countersign_integrator_queued_leaves', row!.leaves as number, {}),
        ...(age === null ? [] : [reading('countersign_checkpoint_age_seconds', Math.max(0, age), {})]),
      ];
    });
  }
}
