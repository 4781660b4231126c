import type { Tx } from '../database/transaction/tx.js';

/**
 * Drops what an organization's outbox had before a time, at most so many. For a database that was put back: whether it was sent from the
 * one that is lost nobody knows, so it is not sent again. But for
 * deletions of accounts elsewhere: those bear it.
 *
 * @returns how many went
 */
export async function dropUnsent(tx: Tx, organizationId: string, before: Date, limit: number): Promise<number> {
  const rows = await tx.query(
    `delete from outbox where organization_id = $1 and id in (
       select id from outbox where organization_id = $1 and created_at < $2 and kind <> 'provider-account.delete'
       order by id limit $3) returning id`,
    [organizationId, before, limit],
  );
  return rows.length;
}
