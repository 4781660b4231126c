import type { ChainRef } from '../../../domain/audit/entry/chain.js';
import type { Tx } from './tx.js';

/** Keeps the count of an agent's open tasks on its head, which this work has locked: an agent without any is decided for alone. */
export function countOpenTasks(tx: Tx, { organizationId, chain }: ChainRef, change: number): void {
  if (change === 0) return;
  const sql = 'update audit_heads set open_tasks = open_tasks + $3 where organization_id = $1 and chain = $2';
  tx.queue(sql, [organizationId, chain, change]);
}
