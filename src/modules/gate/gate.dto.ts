import { ApiProperty } from '@nestjs/swagger';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import { ANY_JSON } from '../../platform/http/fields/any-json.js';
import { Flag, FreeObject, Text } from '../../platform/http/fields/fields.js';
import { formsBy } from '../../platform/http/fields/named-schema.js';
import { HITL_MODE } from '../capabilities/document/mode-words.js';
import { RUNS, type Runs } from '../executions/choose-runtime.js';
import { EditReply, ErrorReply, ReasonReply, UNCERTAIN } from '../executions/executions.presenter.js';
import { LimitStateReply } from '../agents/grants/grants.presenter.js';

const WHO_ACTS =
  'Who does the action: `service`, by a connector or runtime, or `caller`, for whom `executed` is the licence to do it.';
const WHY = 'Which rules decided, and why.';
const USED_UP = 'Limits of the grant that are used up.';
const FLAGGED = "The agent's risk is high or above.";

/** As the documentation shows it; `readExecuteCall` reads it. */
export class ExecuteDto {
  @Text({ min: 1, max: 200, doc: 'Name of the capability.', example: 'web.search' })
  capability!: string;

  @FreeObject({ optional: true, aliases: ['payload'], doc: 'What the action is done with.', example: { query: 'steel prices' } })
  input?: JsonObject;

  @Text({ max: 500, optional: true, nullable: true, doc: 'Name of the action, for the reviewer.' })
  action?: string;

  @FreeObject({ optional: true, doc: '`task_id`, `session_id`, `on_behalf_of`, and what else you need.' })
  context?: JsonObject;

  @Flag({ optional: true, doc: 'Ask what the gate would do, and why. Nothing is created or run.' })
  dryRun?: boolean;

  @Text({ max: 100, optional: true, doc: 'For root, and for dry runs of administrators: which agent acts. An agent acts for itself.' })
  agentId?: string;
}

/** What is said of every execution, whatever became of it. */
class OfExecution {
  @ApiProperty({ example: 'exec_…' }) executionId!: string;
  @ApiProperty({ ...HITL_MODE.member, description: 'The mode that decided.' }) effectiveMode!: string;
  @ApiProperty({ description: FLAGGED }) flagged!: boolean;
}

/** What is said where a person was asked. */
class OfAsked extends OfExecution {
  @ApiProperty({ enum: RUNS, description: WHO_ACTS }) runs!: Runs;
  @ApiProperty({ required: false, example: 'hitl_…', description: 'The request to a person, where there was one.' }) hitlRequestId?: string;
  @ApiProperty({ required: false, description: "The reviewer's comment." }) comment?: string;
  @ApiProperty({ type: Object, required: false, additionalProperties: true, description: 'What ran, where a reviewer edited it.' })
  input?: JsonObject;
  @ApiProperty({ type: EditReply, required: false, description: 'Who edited it, when, and what changed.' }) edit?: EditReply;
}

export class GateExecuted extends OfAsked {
  @ApiProperty({ enum: ['executed'] }) status!: 'executed';
  @ApiProperty({ example: 'audit_…', description: 'Its closing entry in the audit log.' }) auditId!: string;
  @ApiProperty({ ...ANY_JSON, required: false, description: 'What the runtime answered: any JSON value.' }) output?: JsonValue;
  @ApiProperty({ type: 'integer', required: false, description: 'Milliseconds.' }) durationMs?: number;
}

/** Also of an action that was approved and runs. */
export class GatePending extends OfAsked {
  @ApiProperty({ enum: ['pending_hitl'] }) status!: 'pending_hitl';
  @ApiProperty({ example: 'hitl_…', description: 'The request that waits for a person.' }) override hitlRequestId!: string;
  @ApiProperty({ format: 'date-time', description: 'Until when a person can decide.' }) expiresAt!: string;
  @ApiProperty({ type: ReasonReply, isArray: true, required: false, description: `${WHY} Absent once it was approved and runs.` })
  reasons?: ReasonReply[];
  @ApiProperty({ type: LimitStateReply, isArray: true, required: false, description: USED_UP }) limits?: LimitStateReply[];
}

export class GateBlocked extends OfExecution {
  @ApiProperty({ enum: ['blocked'] }) status!: 'blocked';
  @ApiProperty({ example: 'audit_…', description: 'Its entry in the audit log.' }) auditId!: string;
  @ApiProperty({ description: 'Why it was blocked.' }) reason!: string;
  @ApiProperty({ type: ReasonReply, isArray: true, description: WHY }) reasons!: ReasonReply[];
  @ApiProperty({ type: LimitStateReply, isArray: true, required: false, description: USED_UP }) limits?: LimitStateReply[];
}

export class GateFailed extends OfAsked {
  @ApiProperty({ enum: ['failed'] }) status!: 'failed';
  @ApiProperty({ required: false, example: 'audit_…', description: 'Its closing entry in the audit log; absent while it is open.' })
  auditId?: string;
  @ApiProperty({ type: ErrorReply }) error!: ErrorReply;
  @ApiProperty({ ...ANY_JSON, required: false, description: 'What the runtime answered: any JSON value.' }) output?: JsonValue;
  @ApiProperty({ type: 'integer', required: false, description: 'Milliseconds.' }) durationMs?: number;
  @ApiProperty({ required: false, description: `${UNCERTAIN} \`detail\` says what to do.` }) indeterminate?: boolean;
  @ApiProperty({ required: false, description: 'What to do next, where that is not plain.' }) detail?: string;
}

/** Nothing ran: somebody rejected or cancelled it, its time was over, or it may no longer run. */
export class GateCancelled extends OfAsked {
  @ApiProperty({ enum: ['cancelled'] }) status!: 'cancelled';
  @ApiProperty({ description: 'Why it was cancelled.' }) reason!: string;
  @ApiProperty({ required: false, example: 'audit_…', description: 'The entry in the audit log that says so.' }) auditId?: string;
}

/** What the gate would do. Nothing was created or run. */
export class GateDryRun {
  @ApiProperty({ enum: ['dry_run'] }) status!: 'dry_run';
  @ApiProperty({ example: 'ask', description: '`run`, `ask`, `block`, or the code of the refusal.' }) decision!: string;
  @ApiProperty({ ...HITL_MODE.member, required: false, description: 'The mode that would decide.' }) effectiveMode?: string;
  @ApiProperty({ enum: RUNS, required: false, description: `${WHO_ACTS} Absent where nobody would act.` }) runs?: Runs;
  @ApiProperty({ type: ReasonReply, isArray: true, description: WHY }) reasons!: ReasonReply[];
  @ApiProperty({ type: LimitStateReply, isArray: true, required: false, description: USED_UP }) limits?: LimitStateReply[];
  @ApiProperty({ description: FLAGGED }) flagged!: boolean;
}

export type GateReply = GateExecuted | GatePending | GateBlocked | GateFailed | GateCancelled | GateDryRun;

export const GATE_REPLY = formsBy('status', 'GateReply', {
  executed: GateExecuted, pending_hitl: GatePending, blocked: GateBlocked, failed: GateFailed, cancelled: GateCancelled,
  dry_run: GateDryRun,
}, 'What the gate did with a call; `status` says which form it has.');
