import type { Tx } from '../../../platform/database/transaction/tx.js';

/**
 * Gives up what an organization had to deliver before a time, at most so much. For a database that was put back: whether it was delivered
 * from the one that is lost nobody knows. Links by which mails decide go too.
 *
 * @returns how many deliveries
 */
export async function giveUpDeliveries(tx: Tx, organizationId: string, before: Date, limit: number): Promise<number> {
  await tx.query('delete from mail_tokens where organization_id = $1 and created_at < $2', [organizationId, before]);
  const rows = await tx.query(
    `update notification_deliveries set state = 'dead', code = 'RECOVERED', ended_at = clock_timestamp()
     where organization_id = $1 and id in (select id from notification_deliveries
       where organization_id = $1 and state = 'waiting' and created_at < $2 limit $3) returning id`, [organizationId, before, limit],
  );
  return rows.length;
}
