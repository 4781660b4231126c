/** Every column of `hitl_requests`, by the names of its entity; the table is `q`. */
export const REQUEST_COLUMNS = `q.organization_id as "organizationId", q.id, q.agent_id as "agentId", q.agent_name as "agentName",
  q.capability, q.action, q.hitl_mode as "hitlMode", q.status, q.runs, q.input, q.context, q.nonce, q.definition, q.digest, q.version,
  q.flagged, q.reasons, q.grant_id as "grantId", q.execution_id as "executionId", q.created_by as "createdBy",
  q.created_at as "createdAt", q.expires_at as "expiresAt", q.timeout_seconds as "timeoutSeconds", q.timeout_action as "timeoutAction",
  q.escalation_level as "escalationLevel", q.escalated_to as "escalatedTo", q.escalated_at as "escalatedAt",
  q.separation_of_duties as "separationOfDuties", q.initiators, q.agent_owner_id as "agentOwnerId",
  q.agent_registered_by as "agentRegisteredBy", q.vouched_by as "vouchedBy", q.team_id as "teamId", q.break_glass as "breakGlass",
  q.decider_level as "deciderLevel", q.clock_credited_to as "clockCreditedTo", q.quorum, q.reminders, q.remind_at as "remindAt",
  q.reminded_seconds as "remindedSeconds", q.requested_input as "requestedInput", q.edited_by as "editedBy", q.edited_at as "editedAt",
  q.edit_diff as "editDiff", q.escalation_reason as "escalationReason", q.decision_outcome as "decisionOutcome",
  q.decision_by as "decisionBy", q.decided_by as "decidedBy", q.decided_at as "decidedAt", q.note,
  q.decision_entry_id as "decisionEntryId", q.task_id as "taskId", q.task_chain as "taskChain", q.task_owner_id as "taskOwnerId"`;
