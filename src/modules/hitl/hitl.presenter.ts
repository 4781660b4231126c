import { ApiProperty } from '@nestjs/swagger';
import { onBehalfOf } from '../../domain/hitl/on-behalf-of.js';
import type { Quorum } from '../../domain/hitl/quorum.js';
import type { Reminder } from '../../domain/hitl/reminders.js';
import { HITL_STATUSES } from '../../domain/hitl/transition.js';
import { type JsonObject, type JsonValue, shownJson } from '../../domain/json.js';
import { ANY_JSON } from '../../platform/http/fields/any-json.js';
import { EditReply, ErrorReply } from '../executions/executions.presenter.js';
import type { ExecutionError } from '../executions/execution.entity.js';
import { type DecidableBy, DecidableByReply, DecidableBySnakeReply, inSnakeForm } from './queue/decidable-by.js';
import type { RequestRow } from './requests/hitl-requests.query.js';

const CLAIMED = 'For whom the agent says that it acts: a claim of its own.';
const BROKEN = 'It was approved though separation of duties or a quorum barred it.';
const VOTES = 'Who has approved what stands now, where several people have to.';
const REQUESTED = 'As it was asked, where it was edited since.';
const DECIDABLE_BY = 'Of an open request, where one is read, handed on, or listed as somebody\'s queue: who can answer it now.';
const REMINDERS = 'When people are reminded, before the end of each window.';

export class QuorumGroupReply {
  @ApiProperty({ required: false }) teamId?: string;
  @ApiProperty({ required: false }) role?: string;
}

export class QuorumReply {
  @ApiProperty({ type: 'integer', description: 'How many distinct people have to approve.' }) approvals!: number;
  @ApiProperty({ type: QuorumGroupReply, isArray: true, required: false, description: 'Of each at least one.' })
  groups?: QuorumGroupReply[];
}

export class VoteReply {
  @ApiProperty({ example: 'usr_…' }) voter!: string;
  @ApiProperty({ format: 'date-time' }) at!: string;
  @ApiProperty({ type: String, nullable: true }) note!: string | null;
}

export class RequestExecutionReply {
  @ApiProperty({ example: 'exec_…' }) id!: string;
  @ApiProperty({ description: 'What came of the action; `executed` after it ran.' }) status!: string;
  @ApiProperty({ required: false }) reason?: string;
  @ApiProperty({ ...ANY_JSON, required: false, description: 'What the runtime answered: any JSON value.' }) output?: JsonValue;
  @ApiProperty({ type: ErrorReply, required: false }) error?: ExecutionError;
  @ApiProperty({ type: 'integer', required: false }) durationMs?: number;
}

/** The camelCase form of a request (interface, section 2). */
export class RequestReply {
  @ApiProperty({ example: 'hitl_…' }) id!: string;
  @ApiProperty({ example: 'agt_…' }) agentId!: string;
  @ApiProperty() agentName!: string;
  @ApiProperty({ example: 'email.send' }) capability!: string;
  @ApiProperty({ required: false }) action?: string;
  @ApiProperty({ type: Object, additionalProperties: true }) payload!: JsonObject;
  @ApiProperty({ type: Object, required: false, additionalProperties: true }) context?: JsonObject;
  @ApiProperty({ required: false, description: CLAIMED }) onBehalfOf?: string;
  @ApiProperty({ enum: ['propose', 'escalate'] }) hitlMode!: string;
  @ApiProperty({ enum: HITL_STATUSES }) status!: string;
  @ApiProperty({ enum: ['service', 'caller'], description: 'Who acts once it is approved.' }) runs!: string;
  @ApiProperty({ type: 'integer' }) escalationLevel!: number;
  @ApiProperty({ type: DecidableByReply, required: false, description: DECIDABLE_BY }) decidableBy?: DecidableByReply;
  @ApiProperty({ description: 'SHA-256 of what would run; send it back as `expectedDigest`.' }) actionDigest!: string;
  @ApiProperty({ type: 'integer', description: 'Rises with each edit.' }) version!: number;
  @ApiProperty({ type: Object, required: false, additionalProperties: true, description: REQUESTED }) requestedInput?: JsonObject;
  @ApiProperty({ type: EditReply, required: false }) edit?: EditReply;
  @ApiProperty({ type: QuorumReply, required: false, description: 'Several people have to approve.' }) quorum?: JsonValue;
  @ApiProperty({ type: VoteReply, isArray: true, required: false, description: VOTES }) votes?: VoteReply[];
  @ApiProperty({ type: Object, isArray: true, required: false, description: REMINDERS }) reminders?: JsonValue[];
  @ApiProperty() flagged!: boolean;
  @ApiProperty({ type: Object, isArray: true, description: 'Why a person is asked.' }) reasons!: JsonValue[];
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
  @ApiProperty({ type: Object, required: false, description: 'How it ended: outcome, note, and by whom.' }) decision?: JsonObject;
  @ApiProperty({ type: RequestExecutionReply, required: false }) execution?: RequestExecutionReply;
}

export class RequestEnvelope {
  @ApiProperty({ type: RequestReply }) request!: RequestReply;
}

export class RequestListReply {
  @ApiProperty({ type: RequestReply, isArray: true }) requests!: RequestReply[];
  @ApiProperty({ type: 'integer' }) total!: number;
  @ApiProperty({ required: false, description: 'For `cursor`, when more follow.' }) nextCursor?: string;
}

/** The snake_case form of a request (interface, section 2). */
export class RequestSnakeReply {
  @ApiProperty({ example: 'hitl_…' }) id!: string;
  @ApiProperty() agent_id!: string;
  @ApiProperty() agent_name!: string;
  @ApiProperty() capability!: string;
  @ApiProperty({ required: false }) action?: string;
  @ApiProperty({ enum: ['propose', 'escalate'] }) hitl_mode!: string;
  @ApiProperty({ enum: HITL_STATUSES }) status!: string;
  @ApiProperty({ enum: ['service', 'caller'] }) runs!: string;
  @ApiProperty({ type: Object, additionalProperties: true }) input!: JsonObject;
  @ApiProperty({ type: Object, additionalProperties: true }) context!: JsonObject;
  @ApiProperty({ required: false, description: CLAIMED }) on_behalf_of?: string;
  @ApiProperty() action_digest!: string;
  @ApiProperty({ type: 'integer' }) version!: number;
  @ApiProperty({ type: Object, required: false, additionalProperties: true, description: REQUESTED }) requested_input?: JsonObject;
  @ApiProperty({ type: EditReply, required: false }) edit?: EditReply;
  @ApiProperty({ type: Object, required: false, description: 'Several people have to approve: `approvals`, `groups`.' })
  quorum?: JsonValue;
  @ApiProperty({ type: VoteReply, isArray: true, required: false, description: VOTES }) votes?: VoteReply[];
  @ApiProperty({ type: Object, isArray: true, required: false, description: REMINDERS }) reminders?: JsonValue[];
  @ApiProperty() flagged!: boolean;
  @ApiProperty({ type: Object, isArray: true }) reasons!: JsonValue[];
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({ format: 'date-time' }) expires_at!: string;
  @ApiProperty({ type: Object, nullable: true }) decision!: JsonObject | null;
  @ApiProperty({ type: String, nullable: true }) decided_by!: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) decided_at!: string | null;
  @ApiProperty({ required: false, description: BROKEN }) break_glass?: boolean;
  @ApiProperty({ type: 'integer' }) escalation_level!: number;
  @ApiProperty({ type: DecidableBySnakeReply, required: false, description: DECIDABLE_BY }) decidable_by?: DecidableBySnakeReply;
  @ApiProperty({ type: String, nullable: true }) escalated_to!: string | null;
  @ApiProperty({ format: 'date-time', required: false }) escalated_at?: string;
  @ApiProperty({ required: false }) escalation_reason?: string;
  @ApiProperty({ type: Object, required: false }) execution?: JsonObject;
}

export function presentRequest(row: RequestRow, decidableBy?: DecidableBy): RequestReply {
  const decided = row.decidedAt?.toISOString();
  const context = row.context === null ? undefined : (shownJson(row.context) as JsonObject);
  const claimed = onBehalfOf(context);
  return {
    id: row.id,
    agentId: row.agentId,
    agentName: row.agentName,
    capability: row.capability,
    ...(row.action === null ? {} : { action: row.action }),
    payload: shownJson(row.input) as JsonObject,
    ...(context ? { context } : {}),
    ...(claimed === undefined ? {} : { onBehalfOf: claimed }),
    hitlMode: row.hitlMode,
    status: row.status,
    runs: row.runs,
    escalationLevel: row.escalationLevel,
    ...(decidableBy ? { decidableBy } : {}),
    actionDigest: row.digest,
    version: row.version,
    ...(row.requestedInput === null ? {} : { requestedInput: shownJson(row.requestedInput) as JsonObject }),
    ...editOf(row),
    ...(row.quorum === null ? {} : { quorum: row.quorum as unknown as JsonValue }),
    ...votesOf(row),
    ...(row.reminders.length === 0 ? {} : { reminders: row.reminders as unknown as JsonValue[] }),
    flagged: row.flagged,
    reasons: row.reasons as unknown as JsonValue[],
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    ...(row.escalatedTo === null ? {} : { escalatedTo: row.escalatedTo }),
    ...(row.escalatedAt ? { escalatedAt: row.escalatedAt.toISOString() } : {}),
    ...(row.escalationReason === null ? {} : { escalationReason: row.escalationReason }),
    ...(row.decidedBy === null ? {} : { decidedBy: row.decidedBy, decidedAt: decided! }),
    ...(row.status === 'approved' ? { approvedBy: row.decidedBy!, approvedAt: decided! } : {}),
    ...(row.status === 'rejected' ? { rejectedBy: row.decidedBy!, rejectedAt: decided! } : {}),
    ...(row.note === null ? {} : { comment: row.note }),
    ...(row.breakGlass ? { breakGlass: true } : {}),
    ...(row.decisionOutcome === null ? {} : { decision: decisionOf(row)! }),
    ...(row.status === 'approved' ? { execution: executionOf(row) } : {}),
  };
}

export function presentRequestSnake(row: RequestRow, decidableBy?: DecidableBy): RequestSnakeReply {
  const execution = executionOf(row);
  const { durationMs, ...rest } = execution;
  const context = row.context === null ? {} : (shownJson(row.context) as JsonObject);
  const claimed = onBehalfOf(context);
  return {
    id: row.id,
    agent_id: row.agentId,
    agent_name: row.agentName,
    capability: row.capability,
    ...(row.action === null ? {} : { action: row.action }),
    hitl_mode: row.hitlMode,
    status: row.status,
    runs: row.runs,
    input: shownJson(row.input) as JsonObject,
    context,
    ...(claimed === undefined ? {} : { on_behalf_of: claimed }),
    action_digest: row.digest,
    version: row.version,
    ...(row.requestedInput === null ? {} : { requested_input: shownJson(row.requestedInput) as JsonObject }),
    ...editOf(row),
    ...(row.quorum === null ? {} : { quorum: snakeQuorum(row.quorum) }),
    ...votesOf(row),
    ...(row.reminders.length === 0 ? {} : { reminders: row.reminders.map(snakeReminder) }),
    flagged: row.flagged,
    reasons: row.reasons as unknown as JsonValue[],
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
    decision: decisionOf(row),
    decided_by: row.decidedBy,
    decided_at: row.decidedAt?.toISOString() ?? null,
    ...(row.breakGlass ? { break_glass: true } : {}),
    escalation_level: row.escalationLevel,
    ...inSnakeForm(decidableBy),
    escalated_to: row.escalatedTo,
    ...(row.escalatedAt ? { escalated_at: row.escalatedAt.toISOString() } : {}),
    ...(row.escalationReason === null ? {} : { escalation_reason: row.escalationReason }),
    ...(row.status === 'approved'
      ? { execution: { ...rest, ...(durationMs === undefined ? {} : { duration_ms: durationMs }) } as unknown as JsonObject }
      : {}),
  };
}

function editOf({ editedBy, editedAt, editDiff }: RequestRow): { edit?: EditReply } {
  return editedAt === null ? {} : { edit: { by: editedBy!, at: editedAt.toISOString(), diff: editDiff as JsonValue[] } };
}

/** Members that say the same in both forms. Shown as soon as several people have to approve, also while nobody has. */
function votesOf({ votes, quorum }: RequestRow): { votes?: VoteReply[] } {
  if (votes === null && quorum === null) return {};
  return { votes: (votes ?? []).map(({ voter, at, note }) => ({ voter, at: new Date(at).toISOString(), note })) };
}

function snakeQuorum({ approvals, groups }: Quorum): JsonValue {
  const snake = groups?.map((group): JsonValue => ('teamId' in group ? { team_id: group.teamId } : { role: group.role }));
  return { approvals, ...(snake ? { groups: snake } : {}) };
}

function snakeReminder({ secondsBefore, escalate }: Reminder): JsonValue {
  return { seconds_before: secondsBefore, ...(escalate ? { escalate } : {}) };
}

function decisionOf(row: RequestRow): JsonObject | null {
  return row.decisionOutcome === null ? null : { outcome: row.decisionOutcome, note: row.note, by: row.decisionBy };
}

function executionOf(row: RequestRow): RequestExecutionReply {
  return {
    id: row.executionId,
    status: row.executionStatus,
    ...(row.executionReason === null ? {} : { reason: row.executionReason }),
    ...(row.executionOutput === null ? {} : { output: shownJson(row.executionOutput) }),
    ...(row.executionError === null ? {} : { error: row.executionError }),
    ...(row.executionDurationMs === null ? {} : { durationMs: row.executionDurationMs }),
  };
}
