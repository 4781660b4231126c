import type { Tx } from '../../platform/database/tx.js';
import type { HitlRequestEntity } from '../hitl/hitl-request.entity.js';

interface Recorded extends Record<string, unknown> {
  event: string;
  hitl_id: string | null;
  digest: string | null;
}

/**
 * Whether the log says that this very version of the request was approved. A row can be edited so that its digest fits again; the
 * entry of its decision, a person's or time's, cannot without the chain telling.
 */
export async function isApprovedInLog(tx: Tx, request: HitlRequestEntity): Promise<boolean> {
  const [entry] = await tx.query<Recorded>(
    `select e.event, e.payload::json #>> '{metadata,hitlId}' as hitl_id, e.payload::json #>> '{metadata,digest}' as digest
     from audit_entries e where e.organization_id = $1 and e.id = $2`,
    [request.organizationId, request.decisionEntryId],
  );
  return entry?.event === 'hitl.approved' && entry.hitl_id === request.id && entry.digest === request.digest;
}
