import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';

/** Puts the database into maintenance mode; every server sees that within a second. @returns since when it is in that mode */
export async function enterMaintenance(run: RunStatement, because: string): Promise<Date> {
  const [row] = await run(
    `with changed as (
       update instance set held_at = case when held_because = $1 then held_at else clock_timestamp() end, held_because = $1
       returning held_at)
     select held_at from changed`,
    [because],
  );
  return row!.held_at as Date;
}

/**
 * Ends maintenance mode; servers compare the database anew with the checkpoints that they know.
 *
 * @param note signed, so that they forget what they have seen; null: only those that start from here on serve
 */
export async function leaveMaintenance(tx: Tx, at: Date, note: string | null): Promise<void> {
  await tx.query('update instance set held_because = null, held_at = null, recovered_at = $1, recovered_note = $2', [at, note]);
}
