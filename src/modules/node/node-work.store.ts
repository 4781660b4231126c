import { Injectable } from '@nestjs/common';
import { cleanupStep, Janitor } from '../../platform/database/janitor.service.js';
import { Statements } from '../../platform/database/statements/statements.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { OutboxSignal } from '../../platform/outbox/outbox-signal.js';
import { type Work, WORK_COLUMNS, type WorkKey } from './work.js';
import { WorkBatches } from './work-batches.store.js';

/** How long a row is kept after its deadline, so that a repeated or late result is known. */
const KEPT_DAYS = 7;

const WITHDRAW = `update node_work set status = 'withdrawn', ended_at = clock_timestamp()
  where organization_id = $1 and execution_id = $2 and execution_fence = $3 and status in ('queued', 'leased') returning execution_id`;

/**
 * The work of nodes. Each change is a compare-and-set of one row, so that of a start and a withdrawal one comes first. Queueing, leasing
 * and withdrawing change nothing else, and go past units of work.
 */
@Injectable()
export class NodeWorkStore {
  /** The same for the work of many nodes at once. */
  readonly batches: WorkBatches;

  constructor(
    private readonly statements: Statements,
    janitor: Janitor,
    outbox: OutboxSignal,
  ) {
    this.batches = new WorkBatches(statements, outbox);
    janitor.register(forgetOver);
  }

  /** @returns false where somebody has started it, or it is over */
  async withdraw({ organizationId, executionId, executionFence }: WorkKey): Promise<boolean> {
    const rows = await this.statements.run({ name: 'node-withdraw-1', text: WITHDRAW }, [organizationId, executionId, executionFence]);
    return rows.length === 1;
  }

  async withdrawWithin(tx: Tx, { organizationId, executionId, executionFence }: WorkKey): Promise<void> {
    await tx.query(WITHDRAW, [organizationId, executionId, executionFence]);
  }

  /** The row, locked until this unit of work ends. */
  async read(tx: Tx, { organizationId, executionId }: Pick<WorkKey, 'organizationId' | 'executionId'>): Promise<Work | undefined> {
    const rows = await tx.query<Work & Record<string, unknown>>(
      `select ${WORK_COLUMNS} from node_work w where w.organization_id = $1 and w.execution_id = $2 for update`,
      [organizationId, executionId]);
    return rows[0];
  }

  /** Compare-and-set on the lease: on its number, its time, and the epoch of who took it. @returns false where it does not hold any more */
  async start(tx: Tx, { organizationId, executionId, fence }: Work, epoch: number): Promise<boolean> {
    const rows = await tx.query(
      `update node_work set status = 'started', started_at = clock_timestamp()
       where organization_id = $1 and execution_id = $2 and status = 'leased' and fence = $3 and epoch = $4
         and lease_until > clock_timestamp() and deadline > clock_timestamp() returning execution_id`,
      [organizationId, executionId, fence, epoch]);
    return rows.length === 1;
  }

  /**
   * Compare-and-set on the lease, and on that it was started and not answered.
   *
   * @throws Error where another was first. The head's lock rules that out; should it ever fail to, the unit of work is rolled back
   */
  answer(tx: Tx, { organizationId, executionId, fence }: Work, answer: string, isLate: boolean): void {
    tx.assertRowCount(
      `update node_work set status = 'answered', ended_at = clock_timestamp(), answer = $4, is_late = $5
       where organization_id = $1 and execution_id = $2 and started_at is not null and status <> 'answered' and fence = $3
       returning execution_id`,
      [organizationId, executionId, fence, answer, isLate], 1,
      () => new Error(`the work of ${executionId} was no longer started`));
  }
}

const forgetOver = cleanupStep(
  `delete from node_work where (organization_id, execution_id) in
     (select organization_id, execution_id from node_work where deadline < clock_timestamp() - make_interval(days => $2) limit $1)`,
  KEPT_DAYS,
);
