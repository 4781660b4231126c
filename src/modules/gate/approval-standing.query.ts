import type { Tx } from '../../platform/database/tx.js';
import type { HitlRequestEntity } from '../hitl/hitl-request.entity.js';

/** What speaks for an approval besides its row, and against it. */
export interface ApprovalStanding {
  /** The log says that this very version of the request was approved. */
  readonly isInLog: boolean;
  /** A stop has held the agent at any time since, be it lifted by now. */
  readonly wasHeld: boolean;
}

interface Row {
  event: string | null;
  hitl_id: string | null;
  digest: string | null;
  was_held: boolean;
}

/**
 * How a request's approval stands now. A row can be edited so that its digest fits again; the entry of its decision, a person's or
 * time's, cannot without the chain telling. Asked inside a unit of work that holds the agent's head and its organization's barrier.
 */
export async function approvalStanding(tx: Tx, request: HitlRequestEntity): Promise<ApprovalStanding> {
  const [row] = await tx.query<Row>(
    `select e.event, e.payload::json #>> '{metadata,hitlId}' as hitl_id, e.payload::json #>> '{metadata,digest}' as digest,
       exists (select from stops s where s.organization_id in ($1, 'org_platform') and (s.agent_id is null or s.agent_id = $3)
         and (s.lifted_at is null or s.lifted_at > $4)) as was_held
     from (values (1)) as one(row) left join audit_entries e on e.organization_id = $1 and e.id = $2`,
    [request.organizationId, request.decisionEntryId, request.agentId, request.decidedAt],
  );
  const { event, hitl_id: hitlId, digest, was_held: wasHeld } = row!;
  return { isInLog: event === 'hitl.approved' && hitlId === request.id && digest === request.digest, wasHeld };
}
