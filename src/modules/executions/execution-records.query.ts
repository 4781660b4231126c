import { type RecordGap, type RecordRow, type ShownTexts, UNASKED } from '../../domain/audit/completeness/record-row.js';
import { canonical } from '../../domain/audit/entry/jcs.js';
import { ERASED } from '../../domain/audit/entry/read-entry.js';
import { decodeText } from '../../domain/audit/integrity/row-decoding.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { RecordKeeper } from '../../platform/audit/record-keepers.js';
import { inOrder, longColumns, longColumnsOf, measured, recordRows, streamedRows } from '../../platform/audit/record-rows.js';

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
  readonly requestedBy: string;
  readonly flagged: boolean;
  readonly mode: string | null;
  readonly durationMs: number | null;
  readonly entryId: string | null;
  readonly taskId: string | null;
  readonly delegators: string | null;
  readonly input: string;
  readonly context: string | null;
  readonly action: string | null;
  readonly reasons: JsonValue;
  readonly output: string | null;
  readonly error: JsonValue;
  readonly edit: JsonValue;
  readonly report: JsonValue;
  readonly settlement: JsonValue;
}

/** An entry has the beginning of an output. Erasing may have moved the rest: an output with the mark of an erasure is read as a whole. */
const LONG = {
  input: 'e.input', context: 'e.context', action: 'e.action', reasons: 'e.reasons', error: 'e.error', edit: 'e.edit', report: 'e.report',
  settlement: 'e.settlement', output: `case when strpos(e.output, '${ERASED}') > 0 then e.output else left(e.output, 1000) end`,
};

/**
 * The entry of an execution that began without a question to a person does not distinguish `auto` from `notify`. Of an execution with a
 * request the request's mode is compared.
 */
const MODE = `case when e.status = 'blocked' then e.effective_mode
  when e.hitl_request_id is null then case when e.effective_mode in ('auto', 'notify') then '${UNASKED}' else e.effective_mode end end`;

const ROWS = `
  select e.organization_id as "organizationId", e.id, e.agent_id as "agentId", e.capability, e.status, e.reason, e.definition,
    e.grant_id as "grantId", e.grant_version as "grantVersion", e.hitl_request_id as "hitlId", e.requested_by as "requestedBy",
    e.flagged, ${MODE} as mode, e.duration_ms as "durationMs", e.audit_id as "entryId",
    e.task_id as "taskId", array_to_string(e.task_chain, ' ', '') as delegators, long."isLarge", ${longColumns(LONG)}
  from executions e ${measured(LONG)} ${inOrder('e')}`;

const LONG_OF = longColumnsOf('executions', 'e', LONG);

const holds = (column: string) => `coalesce(strpos(e.${column}::text, '${ERASED}') > 0, false)`;

/** The database may not be able to read JSON with escapes, which retention leaves nowhere. */
const of = (column: string, sql: string) =>
  String.raw`case when e.${column} is null or strpos(e.${column}::text, '\u') > 0 then false else ${sql} end`;

/** A row as retention of records leaves one. */
const IS_BLANK = `e.closed_at is not null and e.input = '{}' and e.context is null and e.output is null and e.action is null
  and e.edit is null
  and (e.error is null or ${of('error', "e.error::text = json_build_object('code', e.error ->> 'code', 'message', '')::text")})`;

/** Executions of which the row, its report or its settlement has lost texts. */
const GAPS = `
  select * from (
    select e.organization_id as "organizationId", e.id, ${IS_BLANK} as "isBlank",
      ${['input', 'context', 'output', 'action', 'edit', 'error', 'reasons'].map(holds).join(' or ')} as "isErased",
      ${IS_BLANK} and ${of('report', "e.report -> 'output' is null and e.report -> 'error' is null")} as "isReportBlank",
      ${holds('report')} as "isReportErased",
      ${IS_BLANK} and ${of('settlement', "coalesce(e.settlement ->> 'note' = '', false)")} as "isSettlementBlank",
      ${holds('settlement')} as "isSettlementErased", long."isLarge", ${longColumns(LONG)}
    from executions e ${measured(LONG)} where ($1::text is null or e.organization_id = $1) and ($2::text is null or e.agent_id = $2)) e
  where "isBlank" or "isErased" or "isReportBlank" or "isReportErased" or "isSettlementBlank" or "isSettlementErased"`;

type GapRow = Pick<Row, 'organizationId' | 'id' | keyof typeof LONG>
  & Record<`is${'' | 'Report' | 'Settlement'}${'Blank' | 'Erased'}`, boolean>;

/** Executions, for comparison with the log. */
export const executionRecords: RecordKeeper = {
  kind: 'execution',
  definedIn: import.meta.url,
  rows: (run, selection) => recordRows<Row>(run, ROWS, selection, recordOf, LONG_OF),
  gaps: async function* (run, selection) {
    for await (const batch of streamedRows<GapRow>(run, GAPS, selection, LONG_OF)) yield batch.flatMap(gapsOf);
  },
};

function recordOf(row: Row): RecordRow {
  const { organizationId, id, agentId, capability, status } = row;
  const { reason, definition, grantId, grantVersion, hitlId, requestedBy, flagged, mode, durationMs, entryId, taskId, delegators } = row;
  const [report, settlement] = [object(row.report), object(row.settlement)];
  return {
    organizationId, id, agentId, capability, status, malformed: malformedIn(row),
    members: {
      reason, definition, grantId, grantVersion, hitlId, requestedBy, flagged, mode, durationMs, entryId, taskId, delegators,
      reported: report ? decodeText(report['outcome']) : null,
      reportedMs: durationOf(report),
      settled: settlement ? decodeText(settlement['outcome']) : null,
      settledBy: settlement ? decodeText(settlement['by']) : null,
    },
    texts: textsOf(row),
  };
}

function textsOf(row: Pick<Row, keyof typeof LONG>): NonNullable<RecordRow['texts']> {
  const [report, settlement] = [object(row.report), object(row.settlement)];
  return {
    own: ownTexts(row),
    ...(report ? { report: { output: member(report, 'output'), error: member(report, 'error') } } : {}),
    ...(settlement ? { settlement: { note: decodeText(settlement['note']) } } : {}),
  };
}

function ownTexts({ input, context, action, reasons, output, error, edit: edited }: Pick<Row, keyof typeof LONG>): ShownTexts {
  const edit = object(edited);
  return {
    input, context, action, reasons: canonical(reasons), output,
    error: error === null ? null : canonical(error),
    diff: edit ? canonical(edit['diff']) : null,
    editor: edit ? decodeText(edit['by']) : null,
  };
}

function gapsOf({ organizationId, id, ...row }: GapRow): RecordGap[] {
  const { own, report, settlement } = textsOf(row);
  const of = (kind: RecordGap['kind'], isBlank: boolean, isErased: boolean, shown: ShownTexts | undefined): RecordGap[] =>
    (isBlank || isErased ? [{ kind, organizationId, id, isBlank, ...(isErased ? { shown } : {}) }] : []);
  return [
    ...of('execution', row.isBlank, row.isErased, own), ...of('report', row.isReportBlank, row.isReportErased, report),
    ...of('settlement', row.isSettlementBlank, row.isSettlementErased, settlement),
  ];
}

/** The reported duration; anything but a number as text, which no entry has. */
function durationOf(report: JsonObject | undefined): string | number | null {
  const said = report?.['durationMs'];
  return said === undefined ? null : typeof said === 'number' ? said : canonical(said);
}

/** All members that a report, a settlement and an edit may have: callers are shown the whole of each. */
const MEMBERS = {
  report: ['outcome', 'output', 'error', 'durationMs', 'at'], settlement: ['outcome', 'note', 'by', 'at'], edit: ['by', 'at', 'diff'],
} as const;

function malformedIn(row: Pick<Row, keyof typeof MEMBERS>): string[] {
  return (['report', 'settlement', 'edit'] as const).flatMap((name) => {
    const value = row[name];
    if (value === null) return [];
    if (!isJsonObject(value)) return [`something else than its ${name}`];
    const known: readonly string[] = MEMBERS[name];
    return [
      ...(Object.keys(value).every((one) => known.includes(one)) ? [] : [`more in its ${name} than such a one has`]),
      ...(isTime(value['at']) ? [] : [`no time of its ${name}`]),
    ];
  });
}

/** As the service writes it. */
function isTime(value: JsonValue | undefined): boolean {
  const time = typeof value === 'string' ? Date.parse(value) : NaN;
  return !Number.isNaN(time) && new Date(time).toISOString() === value;
}

function member(of: JsonObject, name: string): string | null {
  return Object.hasOwn(of, name) ? canonical(of[name]) : null;
}

/** A value that is no object is reported by `malformedIn`, and not compared. */
function object(value: JsonValue): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}
