import { pageOf, recordOf, recordRows } from '../../platform/audit/record-rows.js';
import type { RecordKeeper } from '../../platform/audit/record-keepers.js';

// A type and no interface: all members are ones that a record may have.
type Row = {
  readonly organizationId: string;
  readonly id: string;
  readonly agentId: string;
  readonly capability: string;
  readonly status: string;
  readonly reason: string | null;
  readonly definition: string;
  readonly grantId: string | null;
  readonly grantVersion: number | null;
  readonly hitlId: string | null;
  readonly entryId: string | null;
  readonly reported: string | null;
  readonly settled: string | null;
  readonly settledBy: string | null;
};

const ROWS = `
  select e.organization_id as "organizationId", e.id, e.agent_id as "agentId", e.capability, e.status, e.reason, e.definition,
    e.grant_id as "grantId", e.grant_version as "grantVersion", e.hitl_request_id as "hitlId", e.audit_id as "entryId",
    e.report ->> 'outcome' as reported, e.settlement ->> 'outcome' as settled, e.settlement ->> 'by' as "settledBy"
  from executions e ${pageOf('e')}`;

/** Executions as the log tells of them. */
export const executionRecords: RecordKeeper = {
  kind: 'execution',
  rows: (run, selection) => recordRows<Row>(run, ROWS, selection, recordOf),
};
