import { ApiProperty } from '@nestjs/swagger';
import { type JsonObject, type JsonValue, shownJson } from '../../domain/json.js';
import { ANY_JSON } from '../../platform/http/fields/any-json.js';
import { HITL_MODE } from '../capabilities/document/mode-words.js';
import { RUNS, type Runs, runsBy } from './choose-runtime.js';
import { type Outcome, OUTCOMES } from './executions.dto.js';
import { EXECUTION_STATUSES, type ExecutionEntity, type ExecutionError } from './execution.entity.js';

/** Of an execution whose receiver may have acted without its answer reaching this service. */
export const UNCERTAIN = 'It may have been done, and nobody here can say.';
export const DO_NOT_REPEAT =
  'It may have been done. Do not repeat it, except with the same Idempotency-Key, which tells its state and calls nothing again.';

export class ReasonReply {
  @ApiProperty({ example: 'grant_mode', description: 'Which rule it was, in a word.' }) rule!: string;
  @ApiProperty({ description: 'For people. It repeats no value of the input.' }) detail!: string;
}

export class ErrorReply {
  @ApiProperty({ example: 'CONNECTOR_STATUS' }) code!: string;
  @ApiProperty() message!: string;
}

/** One operation of a JSON patch (RFC 6902). */
export class PatchOperationReply {
  @ApiProperty({ enum: ['add', 'remove', 'replace', 'move', 'copy', 'test'] }) op!: string;
  @ApiProperty({ example: '/amount', description: 'RFC 6901, from the root of the input.' }) path!: string;
  @ApiProperty({ required: false, description: 'Of `move` and `copy`: from where.' }) from?: string;
  @ApiProperty({ ...ANY_JSON, required: false, description: 'Of `add`, `replace` and `test`: any JSON value.' }) value?: JsonValue;
}

export class EditReply {
  @ApiProperty({ example: 'usr_…' }) by!: string;
  @ApiProperty({ format: 'date-time' }) at!: string;
  @ApiProperty({
    type: PatchOperationReply, isArray: true, description: 'From the input as it was asked to what would run, or ran.',
  })
  diff!: PatchOperationReply[];
}

export class ReportReply {
  @ApiProperty({ enum: OUTCOMES }) outcome!: Outcome;
  @ApiProperty({ ...ANY_JSON, required: false, description: 'What the work gave: any JSON value.' }) output?: JsonValue;
  @ApiProperty({ ...ANY_JSON, required: false, description: 'What went wrong: any JSON value.' }) error?: JsonValue;
  @ApiProperty({ type: 'integer', required: false, description: 'Milliseconds.' }) durationMs?: number;
  @ApiProperty({ format: 'date-time' }) at!: string;
}

export class SettlementReply {
  @ApiProperty({ enum: OUTCOMES }) outcome!: Outcome;
  @ApiProperty({ description: 'How that was found out.' }) note!: string;
  @ApiProperty({ example: 'usr_…', description: 'A user, or `root`.' }) by!: string;
  @ApiProperty({ format: 'date-time' }) at!: string;
}

export class ExecutionReply {
  @ApiProperty({ example: 'exec_…' }) id!: string;
  @ApiProperty({ example: 'agt_…' }) agentId!: string;
  @ApiProperty({ example: 'email.send' }) capability!: string;
  @ApiProperty({ required: false }) action?: string;
  @ApiProperty({ enum: EXECUTION_STATUSES }) status!: string;
  @ApiProperty(HITL_MODE.member) effectiveMode!: string;
  @ApiProperty() flagged!: boolean;
  @ApiProperty({
    enum: ['receipt', 'connector', 'webhook', 'node', 'llm'],
    description: '`receipt`: the agent does the work itself and reports. `llm`: a call to a model.',
  })
  runtime!: string;
  @ApiProperty({ enum: RUNS, description: 'Who does the action: this service, or the caller.' }) runs!: Runs;
  @ApiProperty({ type: Object, additionalProperties: true, description: 'What it was asked with; where it was edited, what ran.' })
  input!: JsonObject;
  @ApiProperty({ type: Object, required: false, additionalProperties: true, description: 'As the caller gave it.' }) context?: JsonObject;
  @ApiProperty({ type: EditReply, required: false, description: 'A reviewer changed `input` before it ran.' }) edit?: EditReply;
  @ApiProperty({ type: ReasonReply, isArray: true, description: 'Which rules decided, and why.' }) reasons!: ReasonReply[];
  @ApiProperty({ required: false, example: 'task_…', description: 'The task that it does.' }) taskId?: string;
  @ApiProperty({ type: String, isArray: true, required: false, description: 'The agents that a task came through, who acts last.' })
  chain?: string[];
  @ApiProperty({ required: false }) hitlRequestId?: string;
  @ApiProperty({ required: false, description: 'Why it was blocked or cancelled.' }) reason?: string;
  @ApiProperty({ ...ANY_JSON, required: false, description: 'What the runtime answered: any JSON value.' }) output?: JsonValue;
  @ApiProperty({ type: ErrorReply, required: false }) error?: ExecutionError;
  @ApiProperty({ type: 'integer', required: false, description: 'Milliseconds.' }) durationMs?: number;
  @ApiProperty({ required: false, description: 'Its closing entry in the audit log.' }) auditId?: string;
  @ApiProperty({ type: ReportReply, required: false, description: 'What the agent said came of it.' }) report?: ReportReply;
  @ApiProperty({ type: SettlementReply, required: false, description: 'What a person found out about an indeterminate execution.' })
  settlement?: SettlementReply;
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
  @ApiProperty({ format: 'date-time', required: false }) startedAt?: string;
  @ApiProperty({ format: 'date-time', required: false }) closedAt?: string;
}

export class ExecutionEnvelope {
  @ApiProperty({ type: ExecutionReply }) execution!: ExecutionReply;
}

export class ExecutionListReply {
  @ApiProperty({ type: ExecutionReply, isArray: true }) executions!: ExecutionReply[];
  @ApiProperty({ type: 'integer' }) total!: number;
  @ApiProperty({ required: false, description: 'For `cursor`, when more follow.' }) nextCursor?: string;
}

export function presentExecution(row: ExecutionEntity): ExecutionReply {
  return {
    id: row.id,
    agentId: row.agentId,
    capability: row.capability,
    ...(row.action === null ? {} : { action: row.action }),
    status: row.status,
    effectiveMode: row.effectiveMode,
    flagged: row.flagged,
    runtime: row.runtime,
    runs: runsBy(row.runtime),
    input: shownJson(row.input) as JsonObject,
    ...(row.context === null ? {} : { context: shownJson(row.context) as JsonObject }),
    ...(row.edit === null ? {} : { edit: row.edit as unknown as EditReply }),
    reasons: Array.isArray(row.reasons) ? row.reasons.map(({ rule, detail }) => ({ rule, detail })) : [],
    ...(row.taskId === null ? {} : { taskId: row.taskId, chain: [...(row.taskChain ?? []), row.agentId] }),
    ...(row.hitlRequestId === null ? {} : { hitlRequestId: row.hitlRequestId }),
    ...outcomeOf(row),
    ...(row.auditId === null ? {} : { auditId: row.auditId }),
    ...(row.report === null ? {} : { report: row.report as unknown as ReportReply }),
    ...(row.settlement === null ? {} : { settlement: row.settlement as unknown as SettlementReply }),
    createdAt: row.createdAt.toISOString(),
    ...(row.startedAt === null ? {} : { startedAt: row.startedAt.toISOString() }),
    ...(row.closedAt === null ? {} : { closedAt: row.closedAt.toISOString() }),
  };
}

/** The members that the gate's answer, the execution and its request all show. */
export function outcomeOf(row: ExecutionEntity) {
  return {
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.output === null ? {} : { output: shownJson(row.output) }),
    ...(row.error === null ? {} : { error: row.error }),
    ...(row.durationMs === null ? {} : { durationMs: row.durationMs }),
  };
}
