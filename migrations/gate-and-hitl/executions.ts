import { withoutStatistics } from '../shared/unplanned-columns.js';

/** Why: every call that came to the gate is a row from its decision on, and a caller's key makes one row of a repeated call. */
export const EXECUTIONS = [
  // task_chain: of a task's execution, the agents before this one, the first first.
  // fence: how often the execution has begun. A runtime declared idempotent is called again after a crash; whoever closes the
  // execution names the beginning that it closes.
  `create table executions (
    organization_id text collate "C" not null,
    id              text collate "C" not null,
    agent_id        text collate "C" not null,
    capability      text collate "C" not null,
    action          text,
    status          text not null,
    effective_mode  text not null,
    flagged         boolean not null,
    runtime         text not null,
    input           text not null,
    context         text,
    reasons         json not null,
    definition      text not null,
    grant_id        text collate "C",
    grant_version   integer,
    hitl_request_id text collate "C",
    requested_by    text collate "C" not null,
    reason          text,
    output          text,
    error           json,
    audit_id        text collate "C",
    traceparent     text,
    created_at      timestamptz(3) not null,
    started_at      timestamptz(3),
    closed_at       timestamptz(3),
    duration_ms     integer,
    lease_until     timestamptz(3),
    report          json,
    settlement      json,
    edit            json,
    fence           integer not null default 0,
    task_id         text collate "C",
    task_chain      text[],
    primary key (organization_id, id)
  ) with (fillfactor = 85)`,
  `create index executions_of_agent on executions (organization_id, agent_id, id)`,
  `create index executions_running on executions (lease_until) where status = 'running'`,
  // What was approved and has not begun is cancelled by a stop, and when its agent goes to another organization.
  `create index executions_waiting on executions (organization_id, agent_id) where status = 'pending_hitl'`,
  ...withoutStatistics('executions', ['input', 'context', 'output', 'traceparent']),
  `create table idempotency_keys (
    organization_id text collate "C" not null,
    scope           text collate "C" not null,
    fingerprint     text not null,
    execution_id    text collate "C",
    status          integer,
    body            text,
    created_at      timestamptz(3) not null default clock_timestamp(),
    primary key (organization_id, scope)
  )`,
  `create index idempotency_keys_age on idempotency_keys (created_at)`,
];
