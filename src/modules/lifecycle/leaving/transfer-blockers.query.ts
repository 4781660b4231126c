import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/database/transaction/tx.js';

/** What keeps an agent from being transferred. */
@Injectable()
export class TransferBlockersQuery {
  async isRunning(tx: Tx, organizationId: string, agentId: string): Promise<boolean> {
    const rows = await tx.query(
      `select 1 from executions where organization_id = $1 and agent_id = $2 and status = 'running' limit 1`,
      [organizationId, agentId],
    );
    return rows.length > 0;
  }

  /** Whether a stop in force concerns the agent, now or after the transfer: its own, one of these organizations', or that of everything. */
  async isStopped(tx: Tx, agentId: string, organizationIds: readonly string[]): Promise<boolean> {
    const rows = await tx.query(
      `select 1 from stops
       where lifted_at is null and (scope = 'all' or (organization_id = any ($2) and (agent_id is null or agent_id = $1))) limit 1`,
      [agentId, organizationIds],
    );
    return rows.length > 0;
  }
}
