import { recordRows } from '../../platform/audit/record-rows.js';
import type { RecordKeeper } from '../../platform/audit/record-keepers.js';

interface Row {
  readonly organizationId: string;
  readonly id: string;
  readonly agentId: string;
  readonly capability: string;
  readonly status: string;
  readonly executionId: string;
  readonly grantId: string;
  readonly definition: string;
  readonly mode: string | null;
  readonly level: number;
  readonly digest: string;
  readonly version: number;
  readonly decidedBy: string | null;
  readonly breakGlass: boolean;
  readonly entryId: string | null;
}

/** An edit may make another mode of it, which no entry names. */
const ROWS = `
  select q.organization_id as "organizationId", q.id, q.agent_id as "agentId", q.capability, q.status, q.execution_id as "executionId",
    q.grant_id as "grantId", q.definition, case when q.version = 1 then q.hitl_mode end as mode, q.escalation_level as level, q.digest,
    q.version, q.decided_by as "decidedBy", q.break_glass as "breakGlass", q.decision_entry_id as "entryId"
  from hitl_requests q
  where (q.organization_id, q.id) > ($1, $2) and ($4::text is null or q.organization_id = $4) and ($5::text is null or q.agent_id = $5)
  order by q.organization_id, q.id limit $3`;

/** Requests as the log tells of them. */
export const requestRecords: RecordKeeper = {
  kind: 'request',
  rows: (run, selection) =>
    recordRows<Row>(run, ROWS, selection, ({ organizationId, id, agentId, capability, status, ...members }) =>
      ({ organizationId, id, agentId, capability, status, members })),
};
