import type { RecordGap, RecordRow, ShownTexts } from '../../../domain/audit/completeness/record-row.js';
import { canonical } from '../../../domain/audit/entry/jcs.js';
import { ERASED } from '../../../domain/audit/entry/read-entry.js';
import type { JsonValue } from '../../../domain/json.js';
import type { RecordKeeper } from '../../../platform/audit/record-keepers.js';
import { inOrder, longColumns, longColumnsOf, measured, recordRows, streamedRows } from '../../../platform/audit/record-rows.js';

type Shown = Pick<Row, keyof typeof LONG | 'version'>;

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
  readonly flagged: boolean;
  readonly createdBy: string;
  readonly editedBy: string | null;
  readonly escalatedTo: string | null;
  readonly decidedBy: string | null;
  readonly outcome: string | null;
  readonly endedBy: string | null;
  readonly breakGlass: boolean;
  readonly isVoted: boolean;
  readonly entryId: string | null;
  readonly taskId: string | null;
  readonly delegators: string | null;
  readonly taskOwner: string | null;
  readonly input: string;
  readonly requestedInput: string | null;
  readonly context: string | null;
  readonly action: string | null;
  readonly reasons: JsonValue;
  readonly diff: JsonValue;
  readonly note: string | null;
  readonly escalationReason: string | null;
}

/**
 * The vote that decided has no entry of its own, and the same note as the request. Retention and erasures may leave the note there alone:
 * then that one is compared.
 */
const NOTE = `case when q.note <> '${ERASED}' then q.note else coalesce((select v.note from hitl_votes v
  where v.organization_id = q.organization_id and v.request_id = q.id and v.entry_id = q.decision_entry_id limit 1), q.note) end`;

const LONG = {
  input: 'q.input', requestedInput: 'q.requested_input', context: 'q.context', action: 'q.action', reasons: 'q.reasons',
  diff: 'q.edit_diff', note: NOTE, escalationReason: 'q.escalation_reason',
};

/** An edit is shown by its time: a time without an editor, or an editor without a time, is an editor that no entry has. */
const EDITOR = `case when q.edited_at is null then q.edited_by || ' (at no time)' else coalesce(q.edited_by, 'nobody') end`;

/**
 * An edit may change the mode and changes the reasons, and no entry says to what: both are compared of the first version alone. Where
 * several people have to approve, the last of them has a vote, too.
 */
const ROWS = `
  select q.organization_id as "organizationId", q.id, q.agent_id as "agentId", q.capability, q.status, q.execution_id as "executionId",
    q.grant_id as "grantId", q.definition, case when q.version = 1 then q.hitl_mode end as mode,
    q.escalation_level as level, q.digest, q.version, q.flagged, q.created_by as "createdBy",
    ${EDITOR} as "editedBy", q.escalated_to as "escalatedTo",
    q.decided_by as "decidedBy", q.decision_outcome as outcome, q.decision_by as "endedBy", q.break_glass as "breakGlass",
    case when q.quorum is null or q.status <> 'approved' or q.decision_by <> 'human' or q.break_glass then true else exists (
      select from hitl_votes v where v.organization_id = q.organization_id and v.request_id = q.id and v.version = q.version
        and v.voter = q.decided_by) end as "isVoted",
    q.decision_entry_id as "entryId", q.task_id as "taskId", array_to_string(q.task_chain, ' ', '') as delegators,
    q.task_owner_id as "taskOwner", long."isLarge", ${longColumns(LONG)}
  from hitl_requests q ${measured(LONG)} ${inOrder('q')}`;

/** A row as retention of records leaves one: without the nonce and all texts. */
export const IS_BLANK = `q.status not in ('pending', 'escalated') and q.input = '{}' and q.nonce = '' and q.context is null
  and q.action is null and q.requested_input is null and q.edit_diff is null and q.note is null and q.escalation_reason is null`;

const GAPS = `
  select * from (
    select q.organization_id as "organizationId", q.id, q.version, ${IS_BLANK} as "isBlank",
      case when ${IS_BLANK} then (${NOTE}) is not null else false end as "hasNote",
      ${Object.values(LONG).map((sql) => `coalesce(strpos(${sql}::text, '${ERASED}') > 0, false)`).join(' or ')} as "isErased",
      long."isLarge", ${longColumns(LONG)}
    from hitl_requests q ${measured(LONG)} where ($1::text is null or q.organization_id = $1) and ($2::text is null or q.agent_id = $2)) q
  where "isBlank" or "isErased"`;

const LONG_OF = longColumnsOf('hitl_requests', 'q', LONG);

type GapRow = Omit<RecordGap, 'kind' | 'shown'> & Shown & { readonly isErased: boolean };

/** Requests in the words of the log. */
export const requestRecords: RecordKeeper = {
  kind: 'request',
  definedIn: import.meta.url,
  rows: (run, selection) => recordRows<Row>(run, ROWS, selection, recordOf, LONG_OF),
  gaps: async function* (run, selection) {
    for await (const batch of streamedRows<GapRow>(run, GAPS, selection, LONG_OF)) yield batch.map(gapOf);
  },
};

function recordOf(row: Row): RecordRow {
  const { organizationId, id, agentId, capability, status } = row;
  const { executionId, grantId, definition, mode, level, digest, version, flagged } = row;
  const { createdBy, editedBy, escalatedTo } = row;
  const { decidedBy, outcome, endedBy, breakGlass, isVoted, entryId, taskId, delegators, taskOwner } = row;
  return {
    organizationId, id, agentId, capability, status,
    members: {
      executionId, grantId, definition, mode, level, digest, version, flagged, createdBy, editedBy, escalatedTo,
      decidedBy, outcome, endedBy, breakGlass, isVoted, entryId, taskId, delegators, taskOwner,
    },
    texts: { own: textsOf(row) },
  };
}

function gapOf({ organizationId, id, isBlank, hasNote, isErased, ...row }: GapRow): RecordGap {
  return { kind: 'request', organizationId, id, isBlank, hasNote: hasNote === true, ...(isErased ? { shown: textsOf(row) } : {}) };
}

function textsOf({ version, input, requestedInput, context, action, reasons, diff, note, escalationReason }: Shown): ShownTexts {
  return {
    input, requestedInput, context, action, note, escalationReason,
    reasons: version === 1 ? canonical(reasons) : null,
    diff: diff === null ? null : canonical(diff),
  };
}
