import type { RecordGap, RecordRow } from '../../domain/audit/completeness/record-row.js';
import { canonical } from '../../domain/audit/entry/jcs.js';
import { ERASED } from '../../domain/audit/entry/read-entry.js';
import type { RecordKeeper } from '../../platform/audit/record-keepers.js';
import { longColumns, longColumnsOf, measured, recordRows, streamedRows } from '../../platform/audit/record-rows.js';

interface Texts {
  readonly input: string;
  readonly description: string | null;
}

interface Row extends Texts {
  readonly organizationId: string;
  readonly id: string;
  readonly agentId: string;
  readonly status: string;
  readonly capability: string;
  readonly parentId: string | null;
  readonly ancestors: string[];
  readonly fromAgentId: string | null;
  readonly chain: string[];
  readonly delegatedBy: string;
  readonly initiator: string | null;
  readonly decisionId: string | null;
  readonly executionId: string | null;
  readonly reason: string | null;
}

const TEXTS = { input: 't.input', description: 't.description' };
const IN_SELECTION = '($1::text is null or t.organization_id = $1) and ($2::text is null or t.to_agent_id = $2)';

const ROWS = `
  select t.organization_id as "organizationId", t.id, t.to_agent_id as "agentId", t.status, t.capability, t.parent_id as "parentId",
    t.ancestors, t.from_agent_id as "fromAgentId", t.chain, t.delegated_by as "delegatedBy", t.initiator, t.decision_id as "decisionId",
    t.execution_id as "executionId", t.reason, long."isLarge", ${longColumns(TEXTS)}
  from tasks t ${measured(TEXTS)} where ${IN_SELECTION} order by t.organization_id, t.id`;

/** Rows that the retention of records has blanked, or from which an erasure has taken something. */
const GAPS = `
  select * from (
    select t.organization_id as "organizationId", t.id, t.status <> 'assigned' and t.input = '{}' and t.description is null as "isBlank",
      strpos(t.input, '${ERASED}') > 0 or coalesce(t.description = '${ERASED}', false) as "isErased",
      long."isLarge", ${longColumns(TEXTS)}
    from tasks t ${measured(TEXTS)} where ${IN_SELECTION}) t
  where "isBlank" or "isErased"`;

/** An id has 40 characters. Far longer ones, which no server writes, are left out. */
const DELEGATORS = `
  select distinct delegator as id from tasks t cross join unnest(t.chain[1:cardinality(t.chain) - 1]) as delegator
  where octet_length(delegator) <= 64 and ($1::text[] is null or t.organization_id = any ($1))`;

const LARGE_COLUMNS = longColumnsOf('tasks', 't', TEXTS);

type GapRow = Texts & Pick<RecordGap, 'organizationId' | 'id' | 'isBlank'>;

/** Tasks as records that are compared with the log. */
export const taskRecords: RecordKeeper = {
  kind: 'task',
  definedIn: import.meta.url,
  delegators: async (run, organizations) =>
    ((await run(DELEGATORS, [organizations === 'all' ? null : organizations])) as { id: string }[]).map(({ id }) => id),
  rows: (run, selection) => recordRows<Row>(run, ROWS, selection, recordOf, LARGE_COLUMNS),
  gaps: async function* (run, selection) {
    for await (const batch of streamedRows<GapRow>(run, GAPS, selection, LARGE_COLUMNS)) {
      yield batch.map(({ organizationId, id, isBlank, input, description }) =>
        ({ kind: 'task' as const, organizationId, id, isBlank, shown: { input, description } }));
    }
  },
};

function recordOf({ organizationId, id, agentId, status, input, description, ...row }: Row): RecordRow {
  const { capability, parentId, fromAgentId, delegatedBy, initiator, decisionId, executionId, reason } = row;
  return {
    organizationId, id, agentId, capability: '', status,
    members: {
      capability, parentId, fromAgentId, delegatedBy, initiator, decisionId, executionId, reason,
      ancestors: canonical(row.ancestors), chain: canonical(row.chain),
    },
    texts: { own: { input, description } },
  };
}
