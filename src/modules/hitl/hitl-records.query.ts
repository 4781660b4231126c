import { pageOf, recordOf, recordRows } from '../../platform/audit/record-rows.js';
import type { RecordKeeper } from '../../platform/audit/record-keepers.js';

// A type and no interface: all members are ones that a record may have.
type Row = {
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
};

/** An edit may make another mode of it, which no entry names. */
const ROWS = `
  select q.organization_id as "organizationId", q.id, q.agent_id as "agentId", q.capability, q.status, q.execution_id as "executionId",
    q.grant_id as "grantId", q.definition, case when q.version = 1 then q.hitl_mode end as mode, q.escalation_level as level, q.digest,
    q.version, q.decided_by as "decidedBy", q.break_glass as "breakGlass", q.decision_entry_id as "entryId"
  from hitl_requests q ${pageOf('q')}`;

/** Requests as the log tells of them. */
export const requestRecords: RecordKeeper = {
  kind: 'request',
  rows: (run, selection) => recordRows<Row>(run, ROWS, selection, recordOf),
};
