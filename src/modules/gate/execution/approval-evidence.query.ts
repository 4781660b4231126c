import { readEntry } from '../../../domain/audit/entry/read-entry.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';

/** What speaks for an approval besides its row, and against it. */
export interface ApprovalEvidence {
  /** The log says that this very version of the request was approved. */
  readonly isInLog: boolean;
  /** A stop has held the agent at any time since, be it lifted by now. */
  readonly wasHeld: boolean;
}

interface Row {
  event: string;
  payload: string;
  digest: string;
  was_held: boolean;
}

/**
 * How a request's approval stands now. A row can be edited so that its digest fits again; the entry of its decision, a person's or
 * time's, cannot without the chain telling. Asked inside a unit of work that holds the agent's head and its organization's barrier.
 */
export async function approvalEvidence(tx: Tx, organizationId: string, requestId: string): Promise<ApprovalEvidence> {
  const [row] = await tx.query<Row>(
    `select e.event, e.payload, q.digest,
       exists (select from stops s where s.organization_id in (q.organization_id, 'org_platform')
         and (s.agent_id is null or s.agent_id = q.agent_id) and (s.lifted_at is null or s.lifted_at > q.decided_at)) as was_held
     from hitl_requests q join audit_entries e on e.organization_id = q.organization_id and e.id = q.decision_entry_id
     where q.organization_id = $1 and q.id = $2`,
    [organizationId, requestId],
  );
  return { isInLog: row !== undefined && approves(row, requestId), wasHeld: row?.was_held === true };
}

/** Read here, not by the database: what is no JSON would fail the statement, and so whatever waits for it, for ever. */
function approves({ event, payload, digest }: Row, requestId: string): boolean {
  const { metadata } = readEntry({ payload, disclosures: '[]' });
  return event === 'hitl.approved' && metadata['hitlId'] === requestId && metadata['digest'] === digest;
}
