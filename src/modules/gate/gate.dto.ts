import { ApiProperty } from '@nestjs/swagger';
import { HITL_MODES } from '../../domain/gate/vocabulary.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import { ANY_JSON } from '../../platform/http/fields/any-json.js';
import { Flag, FreeObject, Text } from '../../platform/http/fields/fields.js';
import { RUNS, type Runs } from '../executions/choose-runtime.js';
import { EditReply, ErrorReply, ReasonReply, UNCERTAIN } from '../executions/executions.presenter.js';
import { LimitStateReply } from '../agents/grants/grants.presenter.js';

const WHO_ACTS =
  'Who does the action: `service`, by a connector or runtime, or `caller`, for whom `executed` is the licence to do it. ' +
  'Absent where nobody acts.';

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

export class GateReply {
  @ApiProperty({ enum: ['executed', 'pending_hitl', 'blocked', 'failed', 'cancelled', 'dry_run'] }) status!: string;
  @ApiProperty({ required: false, example: 'exec_…' }) executionId?: string;
  @ApiProperty({ enum: RUNS, required: false, description: WHO_ACTS }) runs?: Runs;
  @ApiProperty({ required: false, description: 'Its closing entry in the audit log.' }) auditId?: string;
  @ApiProperty({ ...ANY_JSON, required: false, description: 'What the runtime answered: any JSON value.' }) output?: JsonValue;
  @ApiProperty({ type: 'integer', required: false }) durationMs?: number;
  @ApiProperty({ required: false, description: 'The request that waits for a person.' }) hitlRequestId?: string;
  @ApiProperty({ format: 'date-time', required: false, description: 'Until when a person can decide.' }) expiresAt?: string;
  @ApiProperty({ required: false, description: 'Why it was blocked or cancelled.' }) reason?: string;
  @ApiProperty({ required: false, description: "The reviewer's comment." }) comment?: string;
  @ApiProperty({ type: Object, required: false, additionalProperties: true, description: 'What ran, where a reviewer edited it.' })
  input?: JsonObject;
  @ApiProperty({ type: EditReply, required: false, description: 'Who edited it, when, and what changed.' }) edit?: EditReply;
  @ApiProperty({ type: ErrorReply, required: false }) error?: ErrorReply;
  @ApiProperty({ required: false, description: `${UNCERTAIN} \`detail\` says what to do.` }) indeterminate?: boolean;
  @ApiProperty({ required: false, description: 'What to do next, where that is not plain.' }) detail?: string;
  @ApiProperty({ enum: HITL_MODES, required: false }) effectiveMode?: string;
  @ApiProperty({ description: "The agent's risk is high or above." }) flagged!: boolean;
  @ApiProperty({ required: false, description: 'Of a dry run: run, ask, block, or the code of the refusal.' }) decision?: string;
  @ApiProperty({
    type: ReasonReply, isArray: true, required: false,
    description: 'Which rules decided, and why: where the gate asks or blocks, and of a dry run.',
  })
  reasons?: ReasonReply[];
  @ApiProperty({ type: LimitStateReply, isArray: true, required: false, description: 'Limits of the grant that are used up.' })
  limits?: LimitStateReply[];
}
