import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { AdmissionItem } from './admission-item.js';
import type { AdmissionPlan } from './admission-plan.js';

interface Unacknowledged {
  item: AdmissionItem;
  plan: AdmissionPlan;
}

/** Past the deadline the old connection cannot commit any more; a little later every reader sees what it committed. */
const AFTER_DEADLINE_MS = 100;

/**
 * Finds out which items of a batch were committed whose acknowledgement was lost with its connection. Until the deadline the old
 * backend may still be waiting for a lock, and commit; after the deadline no further item is committed. The batch is never sent again:
 * that could do each action in it twice.
 */
@Injectable()
export class UnknownCommits {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** @returns for each item whether it was committed. Items without an execution of their own count as not. */
  async settle(unacknowledged: readonly Unacknowledged[], cause: unknown): Promise<boolean[]> {
    if (neverSent(cause)) return unacknowledged.map(() => false);
    const last = Math.max(...unacknowledged.map(({ item }) => item.deadline.getTime()));
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, last - Date.now()) + AFTER_DEADLINE_MS));
    try {
      return await this.committed(unacknowledged);
    } catch {
      // The database is still away: no item is answered as done. A call with the same Idempotency-Key finds out later.
      return unacknowledged.map(() => false);
    }
  }

  private async committed(unacknowledged: readonly Unacknowledged[]): Promise<boolean[]> {
    return this.dataSource.transaction(async (manager) => {
      const organizations = unacknowledged.map(({ item }) => item.organizationId);
      await manager.query(
        `select 1 from audit_heads where (organization_id, chain) in (select * from unnest($1::text[], $2::text[]))
         order by organization_id, chain for update`,
        [organizations, unacknowledged.map(({ item }) => item.agentId)],
      );
      const rows: { n: string }[] = await manager.query(
        `select i.n from unnest($1::text[], $2::text[]) with ordinality as i(organization_id, id, n)
         join executions e on e.organization_id = i.organization_id and e.id = i.id`,
        [organizations, unacknowledged.map(({ plan }) => plan.executionId ?? null)],
      );
      const found = new Set(rows.map((row) => Number(row.n)));
      return unacknowledged.map((_, i) => found.has(i + 1));
    });
  }
}

/** No connection could be had at all, so nothing of the batch can have arrived. */
function neverSent(cause: unknown): boolean {
  const { code, message } = cause as { code?: unknown; message?: unknown };
  if (code === 'ECONNREFUSED' || code === '53300' || code === '57P03') return true;
  return typeof message === 'string' && /when trying to connect/.test(message);
}
