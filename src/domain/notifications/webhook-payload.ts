import type { JsonObject } from '../json.js';
import { QUESTIONS } from './events.js';
import type { Message, ShownExecution, ShownRequest } from './message.js';
import { inputSummary, oneLine } from './plain-text.js';

/**
 * What a webhook is told (interface, section 6). A created request has the members of the interface and no others; `priority` stands
 * only where it is high. Other events have the same form, and besides `occurred_at` and what came of it.
 */
export function webhookPayload(message: Message): JsonObject {
  const { event, priority } = message;
  const occurred = { occurred_at: message.occurredAt.toISOString() };
  const high: JsonObject = priority === 'high' ? { priority } : {};
  if (message.about === 'test') return { event, organization_id: message.organizationId, ...occurred, ...high };
  if (message.about === 'execution') return { event, ...executionMembers(message.execution), ...high, ...occurred };
  const { request, links } = message;
  return {
    event,
    hitl_request_id: request.id,
    agent_id: request.agentId,
    agent_name: oneLine(request.agentName),
    capability: request.capability,
    hitl_mode: request.hitlMode,
    input_summary: inputSummary(request.input),
    approve_url: links.approve,
    reject_url: links.reject,
    expires_at: request.expiresAt.toISOString(),
    ...high,
    ...(message.event === 'hitl.request.created' ? {} : { ...occurred, status: request.status }),
    ...(QUESTIONS.has(message.event) ? askedAgain(message.event, request) : decided(request)),
  };
}

function askedAgain(event: Message['event'], { level, escalationReason }: ShownRequest): JsonObject {
  if (event === 'hitl.request.created') return {};
  return { escalation_level: level, escalation_reason: escalationReason === null ? null : oneLine(escalationReason, 500) };
}

function decided({ decidedBy, decisionBy, decidedAt, note, breakGlass }: ShownRequest): JsonObject {
  return {
    decided_by: decidedBy === null ? null : oneLine(decidedBy),
    decision_by: decisionBy,
    decided_at: decidedAt?.toISOString() ?? null,
    comment: note === null ? null : oneLine(note, 500),
    ...(breakGlass ? { break_glass: true } : {}),
  };
}

function executionMembers({ id, agentId, agentName, capability, status, input, error, closedAt }: ShownExecution): JsonObject {
  return {
    execution_id: id,
    agent_id: agentId,
    agent_name: oneLine(agentName),
    capability,
    status,
    input_summary: inputSummary(input),
    error: error === null ? null : { code: error.code, message: oneLine(error.message, 500) },
    closed_at: closedAt?.toISOString() ?? null,
  };
}
