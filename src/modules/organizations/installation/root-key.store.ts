import type { DataSource } from 'typeorm';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { PLATFORM_ORGANIZATION } from '../../../domain/audit/entry/chain.js';
import { drainBarriers } from '../../../platform/database/transaction/locks.js';

/** Where the hash of the root key stands. Of the installation, so no scope narrows it. */
export class RootKeyStore {
  constructor(private readonly dataSource: DataSource) {}

  /** Whether the first set-up has been made; false also in a database that holds nothing of ours. */
  async isSetUp(): Promise<boolean> {
    const [found] = await this.dataSource.query<[{ table: string | null }]>(`select to_regclass('instance')::text as "table"`);
    if (found.table === null) return false;
    const rows = await this.dataSource.query<unknown[]>('select 1 from instance');
    return rows.length > 0;
  }

  async replace(tx: Tx, keyHash: string, at: Date): Promise<void> {
    await tx.query('update instance set root_key_hash = $1, root_key_created_at = $2', [keyHash, at]);
  }

  /**
   * Returns when all work has ended that compared its root key with the former hash: units of work have joined the platform's
   * barrier, the gate's commits that of their agent's organization.
   */
  async passOldKey(): Promise<void> {
    const organizations = await this.dataSource.query<{ id: string }[]>('select id from organizations');
    await drainBarriers(this.dataSource, [PLATFORM_ORGANIZATION, ...organizations.map(({ id }) => id)]);
  }
}
