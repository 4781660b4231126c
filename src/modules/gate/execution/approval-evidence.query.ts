import { readEntry } from '../../../domain/audit/entry/read-entry.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';

/** What the log and the stops say of an approval, besides its row. */
export interface ApprovalEvidence {
  /** The log says that this very version of the request was approved. */
  readonly isInLog: boolean;
  /** Whether the agent was stopped at any time since the approval, even if the stop has been lifted. */
  readonly wasStopped: boolean;
}

interface Row {
  event: string;
  payload: string;
  digest: string;
  was_stopped: boolean;
}

/**
 * The evidence of a request's approval. Somebody with SQL can edit the row so that its digest fits again. They cannot edit the entry of
 * the decision, a person's or the window's end, without breaking the chain. Read inside a unit of work that has locked the agent's head
 * and joined its organization's barrier.
 */
export async function approvalEvidence(tx: Tx, organizationId: string, requestId: string): Promise<ApprovalEvidence> {
  const [row] = await tx.query<Row>(
    `select e.event, e.payload, q.digest,
       exists (select from stops s where s.organization_id in (q.organization_id, 'org_platform')
         and (s.agent_id is null or s.agent_id = q.agent_id or s.agent_id = any (q.task_chain))
         and (s.lifted_at is null or s.lifted_at > q.decided_at)) as was_stopped
     from hitl_requests q join audit_entries e on e.organization_id = q.organization_id and e.id = q.decision_entry_id
     where q.organization_id = $1 and q.id = $2`,
    [organizationId, requestId],
  );
  return { isInLog: row !== undefined && approves(row, requestId), wasStopped: row?.was_stopped === true };
}

/** Parsed here, not by the database: a payload that is no JSON would fail the statement each time that it is tried. */
function approves({ event, payload, digest }: Row, requestId: string): boolean {
  const { metadata } = readEntry({ payload, disclosures: '[]' });
  return event === 'hitl.approved' && metadata['hitlId'] === requestId && metadata['digest'] === digest;
}
