/** Every column of `executions`, by the names of its entity; the table is `e`. */
export const EXECUTION_COLUMNS = `e.organization_id as "organizationId", e.id, e.agent_id as "agentId", e.capability, e.action, e.status,
  e.effective_mode as "effectiveMode", e.flagged, e.runtime, e.input, e.context, e.reasons, e.definition, e.grant_id as "grantId",
  e.grant_version as "grantVersion", e.hitl_request_id as "hitlRequestId", e.requested_by as "requestedBy", e.reason, e.output, e.error,
  e.audit_id as "auditId", e.traceparent, e.created_at as "createdAt", e.started_at as "startedAt", e.closed_at as "closedAt",
  e.duration_ms as "durationMs", e.lease_until as "leaseUntil", e.report, e.settlement, e.edit, e.fence, e.task_id as "taskId",
  e.task_chain as "taskChain"`;
