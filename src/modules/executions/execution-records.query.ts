import { recordRows } from '../../platform/audit/record-rows.js';
import type { RecordKeeper } from '../../platform/audit/record-keepers.js';

interface Row {
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
}

const ROWS = `
  select e.organization_id as "organizationId", e.id, e.agent_id as "agentId", e.capability, e.status, e.reason, e.definition,
    e.grant_id as "grantId", e.grant_version as "grantVersion", e.hitl_request_id as "hitlId", e.audit_id as "entryId",
    e.report ->> 'outcome' as reported, e.settlement ->> 'outcome' as settled, e.settlement ->> 'by' as "settledBy"
  from executions e
  where (e.organization_id, e.id) > ($1, $2) and ($4::text is null or e.organization_id = $4) and ($5::text is null or e.agent_id = $5)
  order by e.organization_id, e.id limit $3`;

/** Executions as the log tells of them. */
export const executionRecords: RecordKeeper = {
  kind: 'execution',
  rows: (run, selection) =>
    recordRows<Row>(run, ROWS, selection, ({ organizationId, id, agentId, capability, status, ...members }) =>
      ({ organizationId, id, agentId, capability, status, members })),
};
