import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';

/** Who may be named as an owner, a member, a decider: people of that organization whose account is open. */
@Injectable()
export class ActiveUsersQuery {
  async isActive(tx: Tx, organizationId: string, userId: string): Promise<boolean> {
    const rows = await tx.query(`select id from users where organization_id = $1 and id = $2 and status = 'active'`, [
      organizationId, userId,
    ]);
    return rows.length > 0;
  }

  /** @throws Problem NOT_FOUND in the same words for one that never was, is elsewhere, or has closed their account */
  async assertActive(tx: Tx, organizationId: string, userId: string): Promise<void> {
    if (!(await this.isActive(tx, organizationId, userId))) throw new Problem('NOT_FOUND', 'There is no such user.');
  }
}
