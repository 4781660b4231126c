import { ApiExtraModels, ApiProperty } from '@nestjs/swagger';
import type { Quorum } from '../../domain/hitl/quorum.js';
import type { Reminder } from '../../domain/hitl/reminders.js';
import { HITL_STATUSES } from '../../domain/hitl/transition.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import { ANY_JSON } from '../../platform/http/fields/any-json.js';
import { eitherForm } from '../../platform/http/fields/named-schema.js';
import { EXECUTION_STATUSES, type ExecutionError } from '../executions/execution.entity.js';
import { EditReply, ErrorReply, ReasonReply } from '../executions/executions.presenter.js';
import { DecidableByReply, DecidableBySnakeReply } from './queue/decidable-by.js';

const CLAIMED = 'For whom the agent says that it acts: a claim of its own.';
const TASK = 'The delegated task that it does.';
const CHAIN = 'The agents that the task came through, the first first, and the one that acts last.';
const BROKEN = 'It was approved though separation of duties or a quorum barred it.';
const VOTES = 'Who has approved what stands now, where several people have to.';
const REQUESTED = 'As it was asked, where it was edited since.';
const REMINDERS = 'When people are reminded, before the end of each window.';
const APPROVALS = 'How many distinct people have to approve.';
const GROUPS = 'Of each at least one.';
const SEVERAL = 'Several people have to approve.';
const SECONDS_BEFORE = 'Seconds before the end of each window.';
const ESCALATES = 'It also moves the request up one level.';
const WHO_ACTS = 'Who acts once it is approved: this service, or the caller.';
const DIGEST = 'SHA-256 of what would run; send it back as `expectedDigest`.';
const FLAGGED = "The agent's risk is high or above.";
const EXECUTION = 'The execution that waits for it; what came of it is at `GET /executions/{id}`, and here once it is approved.';
const WHY = 'Why a person is asked.';
const PAYLOAD = 'What the agent wants to do: what would run.';
const CONTEXT = 'As the caller gave it.';
const LEVEL = '0: the owner of the agent (or of a delegated task) and its team, 1: leads of that team, 2: admins of the organization.';
const DECIDABLE_BY = 'Of an open request, where one is read, handed on, or listed as somebody\'s queue: who can answer it now.';

export class QuorumGroupReply {
  @ApiProperty({ required: false }) teamId?: string;
  @ApiProperty({ required: false }) role?: string;
}

export class QuorumReply {
  @ApiProperty({ type: 'integer', description: APPROVALS }) approvals!: number;
  @ApiProperty({ type: QuorumGroupReply, isArray: true, required: false, description: GROUPS }) groups?: QuorumGroupReply[];
}

export class VoteReply {
  @ApiProperty({ example: 'usr_…' }) voter!: string;
  @ApiProperty({ format: 'date-time' }) at!: string;
  @ApiProperty({ type: String, nullable: true }) note!: string | null;
}

export class QuorumGroupSnakeReply {
  @ApiProperty({ required: false }) team_id?: string;
  @ApiProperty({ required: false }) role?: string;
}

export class QuorumSnakeReply {
  @ApiProperty({ type: 'integer', description: APPROVALS }) approvals!: number;
  @ApiProperty({ type: QuorumGroupSnakeReply, isArray: true, required: false, description: GROUPS }) groups?: QuorumGroupSnakeReply[];
}

export class ReminderReply {
  @ApiProperty({ type: 'integer', description: SECONDS_BEFORE }) secondsBefore!: number;
  @ApiProperty({ required: false, description: ESCALATES }) escalate?: boolean;
}

export class ReminderSnakeReply {
  @ApiProperty({ type: 'integer', description: SECONDS_BEFORE }) seconds_before!: number;
  @ApiProperty({ required: false, description: ESCALATES }) escalate?: boolean;
}

/** How a request ended. */
export class DecisionReply {
  @ApiProperty({ enum: ['approved', 'rejected', 'cancelled'] }) outcome!: string;
  @ApiProperty({ type: String, nullable: true, description: "The reviewer's comment." }) note!: string | null;
  @ApiProperty({ enum: ['human', 'timeout', 'system'], description: 'What ended it; `decidedBy` says who.' }) by!: string;
}

class OfExecution {
  @ApiProperty({ example: 'exec_…' }) id!: string;
  @ApiProperty({ enum: EXECUTION_STATUSES, description: 'What came of the action; `executed` after it ran.' }) status!: string;
  @ApiProperty({ required: false, description: 'Why it was cancelled.' }) reason?: string;
  @ApiProperty({ ...ANY_JSON, required: false, description: 'What the runtime answered: any JSON value.' }) output?: JsonValue;
  @ApiProperty({ type: ErrorReply, required: false }) error?: ExecutionError;
}

export class RequestExecutionReply extends OfExecution {
  @ApiProperty({ type: 'integer', required: false, description: 'Milliseconds.' }) durationMs?: number;
}

export class RequestExecutionSnakeReply extends OfExecution {
  @ApiProperty({ type: 'integer', required: false, description: 'Milliseconds.' }) duration_ms?: number;
}

/** The camelCase form of a request (interface, section 2). */
export class RequestReply {
  @ApiProperty({ example: 'hitl_…' }) id!: string;
  @ApiProperty({ example: 'exec_…', description: EXECUTION }) executionId!: string;
  @ApiProperty({ example: 'agt_…' }) agentId!: string;
  @ApiProperty() agentName!: string;
  @ApiProperty({ example: 'email.send' }) capability!: string;
  @ApiProperty({ required: false }) action?: string;
  @ApiProperty({ type: Object, additionalProperties: true, description: PAYLOAD }) payload!: JsonObject;
  @ApiProperty({ type: Object, required: false, additionalProperties: true, description: CONTEXT }) context?: JsonObject;
  @ApiProperty({ required: false, example: 'task_…', description: TASK }) taskId?: string;
  @ApiProperty({ type: String, isArray: true, required: false, description: CHAIN }) chain?: string[];
  @ApiProperty({ required: false, description: CLAIMED }) onBehalfOf?: string;
  @ApiProperty({ enum: ['propose', 'escalate'] }) hitlMode!: string;
  @ApiProperty({ enum: HITL_STATUSES }) status!: string;
  @ApiProperty({ enum: ['service', 'caller'], description: WHO_ACTS }) runs!: string;
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 2, description: LEVEL }) escalationLevel!: number;
  @ApiProperty({ type: DecidableByReply, required: false, description: DECIDABLE_BY }) decidableBy?: DecidableByReply;
  @ApiProperty({ description: DIGEST }) actionDigest!: string;
  @ApiProperty({ type: 'integer', description: 'Rises with each edit.' }) version!: number;
  @ApiProperty({ type: Object, required: false, additionalProperties: true, description: REQUESTED }) requestedInput?: JsonObject;
  @ApiProperty({ type: EditReply, required: false }) edit?: EditReply;
  @ApiProperty({ type: QuorumReply, required: false, description: SEVERAL }) quorum?: Quorum;
  @ApiProperty({ type: VoteReply, isArray: true, required: false, description: VOTES }) votes?: VoteReply[];
  @ApiProperty({ type: ReminderReply, isArray: true, required: false, description: REMINDERS }) reminders?: readonly Reminder[];
  @ApiProperty({ description: FLAGGED }) flagged!: boolean;
  @ApiProperty({ type: ReasonReply, isArray: true, description: WHY }) reasons!: ReasonReply[];
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
  @ApiProperty({ format: 'date-time' }) expiresAt!: string;
  @ApiProperty({ required: false, description: 'In whose queue alone it stands.' }) escalatedTo?: string;
  @ApiProperty({ format: 'date-time', required: false }) escalatedAt?: string;
  @ApiProperty({ required: false }) escalationReason?: string;
  @ApiProperty({ required: false, description: 'Whoever ended it; `system` where time did.' }) decidedBy?: string;
  @ApiProperty({ format: 'date-time', required: false }) decidedAt?: string;
  @ApiProperty({ required: false }) approvedBy?: string;
  @ApiProperty({ format: 'date-time', required: false }) approvedAt?: string;
  @ApiProperty({ required: false }) rejectedBy?: string;
  @ApiProperty({ format: 'date-time', required: false }) rejectedAt?: string;
  @ApiProperty({ required: false, description: "The reviewer's comment." }) comment?: string;
  @ApiProperty({ required: false, description: BROKEN }) breakGlass?: boolean;
  @ApiProperty({ type: DecisionReply, required: false, description: 'How it ended.' }) decision?: DecisionReply;
  @ApiProperty({ type: RequestExecutionReply, required: false }) execution?: RequestExecutionReply;
}

/** The snake_case form of a request (interface, section 2). */
export class RequestSnakeReply {
  @ApiProperty({ example: 'hitl_…' }) id!: string;
  @ApiProperty({ example: 'exec_…', description: EXECUTION }) execution_id!: string;
  @ApiProperty() agent_id!: string;
  @ApiProperty() agent_name!: string;
  @ApiProperty() capability!: string;
  @ApiProperty({ required: false }) action?: string;
  @ApiProperty({ enum: ['propose', 'escalate'] }) hitl_mode!: string;
  @ApiProperty({ enum: HITL_STATUSES }) status!: string;
  @ApiProperty({ enum: ['service', 'caller'], description: WHO_ACTS }) runs!: string;
  @ApiProperty({ type: Object, additionalProperties: true, description: PAYLOAD }) input!: JsonObject;
  @ApiProperty({ type: Object, additionalProperties: true, description: CONTEXT }) context!: JsonObject;
  @ApiProperty({ required: false, example: 'task_…', description: TASK }) task_id?: string;
  @ApiProperty({ type: String, isArray: true, required: false, description: CHAIN }) chain?: string[];
  @ApiProperty({ required: false, description: CLAIMED }) on_behalf_of?: string;
  @ApiProperty({ description: DIGEST }) action_digest!: string;
  @ApiProperty({ type: 'integer', description: 'Rises with each edit.' }) version!: number;
  @ApiProperty({ type: Object, required: false, additionalProperties: true, description: REQUESTED }) requested_input?: JsonObject;
  @ApiProperty({ type: EditReply, required: false }) edit?: EditReply;
  @ApiProperty({ type: QuorumSnakeReply, required: false, description: SEVERAL }) quorum?: QuorumSnakeReply;
  @ApiProperty({ type: VoteReply, isArray: true, required: false, description: VOTES }) votes?: VoteReply[];
  @ApiProperty({ type: ReminderSnakeReply, isArray: true, required: false, description: REMINDERS }) reminders?: ReminderSnakeReply[];
  @ApiProperty({ description: FLAGGED }) flagged!: boolean;
  @ApiProperty({ type: ReasonReply, isArray: true, description: WHY }) reasons!: ReasonReply[];
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({ format: 'date-time' }) expires_at!: string;
  @ApiProperty({ type: DecisionReply, nullable: true, description: 'How it ended.' }) decision!: DecisionReply | null;
  @ApiProperty({ type: String, nullable: true }) decided_by!: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) decided_at!: string | null;
  @ApiProperty({ required: false, description: BROKEN }) break_glass?: boolean;
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 2, description: LEVEL }) escalation_level!: number;
  @ApiProperty({ type: DecidableBySnakeReply, required: false, description: DECIDABLE_BY }) decidable_by?: DecidableBySnakeReply;
  @ApiProperty({ type: String, nullable: true }) escalated_to!: string | null;
  @ApiProperty({ format: 'date-time', required: false }) escalated_at?: string;
  @ApiProperty({ required: false }) escalation_reason?: string;
  @ApiProperty({ type: RequestExecutionSnakeReply, required: false }) execution?: RequestExecutionSnakeReply;
}

/** The request in the form that `?form=` asks for. */
export const EITHER_REQUEST = eitherForm('HitlRequest', [RequestReply, RequestSnakeReply],
  'A request in either form, as `?form=` asks: `RequestReply` is camelCase, `RequestSnakeReply` is snake_case. Both say the same.');

export class RequestEnvelope {
  @ApiProperty({ type: RequestReply }) request!: RequestReply;
}

@ApiExtraModels(RequestReply, RequestSnakeReply)
export class DecidedRequestEnvelope {
  @ApiProperty({ ...EITHER_REQUEST.member, description: 'In camelCase unless `?form=snake`.' }) request!: RequestReply | RequestSnakeReply;
}

@ApiExtraModels(RequestReply, RequestSnakeReply)
export class RequestListReply {
  @ApiProperty({ ...EITHER_REQUEST.items, description: 'In camelCase unless `?form=snake`.' })
  requests!: (RequestReply | RequestSnakeReply)[];
  @ApiProperty({ type: 'integer' }) total!: number;
  @ApiProperty({ required: false, description: 'For `cursor`, when more follow.' }) nextCursor?: string;
}
