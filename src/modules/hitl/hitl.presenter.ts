import { onBehalfOf } from '../../domain/hitl/on-behalf-of.js';
import type { Quorum } from '../../domain/hitl/quorum.js';
import type { Reminder } from '../../domain/hitl/reminders.js';
import { type JsonObject, shownJson } from '../../domain/json.js';
import type { EditReply, PatchOperationReply } from '../executions/executions.presenter.js';
import type {
  DecisionReply, QuorumSnakeReply, ReminderSnakeReply, RequestExecutionReply, RequestReply, RequestSnakeReply, VoteReply,
} from './hitl.replies.js';
import { type DecidableBy, inSnakeForm } from './queue/decidable-by.js';
import type { RequestRow } from './requests/hitl-requests.query.js';

export function presentRequest(row: RequestRow, decidableBy?: DecidableBy): RequestReply {
  const decided = row.decidedAt?.toISOString();
  const context = row.context === null ? undefined : (shownJson(row.context) as JsonObject);
  const claimed = onBehalfOf(context);
  return {
    id: row.id,
    executionId: row.executionId,
    agentId: row.agentId,
    agentName: row.agentName,
    capability: row.capability,
    ...(row.action === null ? {} : { action: row.action }),
    payload: shownJson(row.input) as JsonObject,
    ...(context ? { context } : {}),
    ...(row.taskId === null ? {} : { taskId: row.taskId, chain: chainOf(row) }),
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
    ...(row.quorum === null ? {} : { quorum: row.quorum }),
    ...votesOf(row),
    ...(row.reminders.length === 0 ? {} : { reminders: row.reminders }),
    flagged: row.flagged,
    reasons: row.reasons,
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
    execution_id: row.executionId,
    agent_id: row.agentId,
    agent_name: row.agentName,
    capability: row.capability,
    ...(row.action === null ? {} : { action: row.action }),
    hitl_mode: row.hitlMode,
    status: row.status,
    runs: row.runs,
    input: shownJson(row.input) as JsonObject,
    context,
    ...(row.taskId === null ? {} : { task_id: row.taskId, chain: chainOf(row) }),
    ...(claimed === undefined ? {} : { on_behalf_of: claimed }),
    action_digest: row.digest,
    version: row.version,
    ...(row.requestedInput === null ? {} : { requested_input: shownJson(row.requestedInput) as JsonObject }),
    ...editOf(row),
    ...(row.quorum === null ? {} : { quorum: snakeQuorum(row.quorum) }),
    ...votesOf(row),
    ...(row.reminders.length === 0 ? {} : { reminders: row.reminders.map(snakeReminder) }),
    flagged: row.flagged,
    reasons: row.reasons,
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
      ? { execution: { ...rest, ...(durationMs === undefined ? {} : { duration_ms: durationMs }) } }
      : {}),
  };
}

const chainOf = ({ taskChain, agentId }: RequestRow): string[] => [...(taskChain ?? []), agentId];

function editOf({ editedBy, editedAt, editDiff }: RequestRow): { edit?: EditReply } {
  if (editedAt === null) return {};
  return { edit: { by: editedBy!, at: editedAt.toISOString(), diff: editDiff as unknown as PatchOperationReply[] } };
}

/** Members that say the same in both forms. Shown as soon as several people have to approve, also while nobody has. */
function votesOf({ votes, quorum }: RequestRow): { votes?: VoteReply[] } {
  if (votes === null && quorum === null) return {};
  return { votes: (votes ?? []).map(({ voter, at, note }) => ({ voter, at: new Date(at).toISOString(), note })) };
}

function snakeQuorum({ approvals, groups }: Quorum): QuorumSnakeReply {
  const snake = groups?.map((group) => ('teamId' in group ? { team_id: group.teamId } : { role: group.role }));
  return { approvals, ...(snake ? { groups: snake } : {}) };
}

function snakeReminder({ secondsBefore, escalate }: Reminder): ReminderSnakeReply {
  return { seconds_before: secondsBefore, ...(escalate ? { escalate } : {}) };
}

function decisionOf(row: RequestRow): DecisionReply | null {
  return row.decisionOutcome === null ? null : { outcome: row.decisionOutcome, note: row.note, by: row.decisionBy! };
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
