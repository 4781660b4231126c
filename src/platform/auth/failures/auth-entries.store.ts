import { PLATFORM_ORGANIZATION } from '../../../domain/audit/entry/chain.js';
import type { Tx } from '../../database/transaction/tx.js';

/** Whether one of these entries is in the platform's chain. The work has locked that chain's head, so every other writer has ended. */
export async function isRecorded(tx: Tx, ids: readonly string[]): Promise<boolean> {
  const found = await tx.query('select 1 as one from audit_entries where organization_id = $1 and id = any ($2)', [
    PLATFORM_ORGANIZATION, ids,
  ]);
  return found.length > 0;
}
