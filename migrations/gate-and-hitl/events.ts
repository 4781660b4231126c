/**
 * Why: consoles and agents follow what becomes of requests without asking again and again. The events are written by triggers, in
 * the transaction that makes them true, so that no path can forget one.
 */
const TABLE = [
  // Read in the order of (txid, n), and never past the oldest transaction that is still open: n alone commits out of order. A row
  // holds what lists show at a glance, and never an input.
  `create table hitl_events (
    organization_id  text collate "C" not null,
    txid             xid8 not null default pg_current_xact_id(),
    n                bigint generated always as identity,
    at               timestamptz(3) not null default clock_timestamp(),
    event            text not null,
    request_id       text collate "C" not null,
    agent_id         text collate "C" not null,
    capability       text collate "C" not null,
    status           text not null,
    escalation_level integer not null,
    escalated_to     text collate "C",
    expires_at       timestamptz(3) not null,
    execution_id     text collate "C" not null,
    execution_status text,
    primary key (organization_id, txid, n)
  )`,
  `create index hitl_events_in_order on hitl_events (txid, n)`,
];

const COLUMNS = `organization_id, event, request_id, agent_id, capability, status, escalation_level, escalated_to, expires_at,
  execution_id`;
const OF_REQUEST = `q.id, q.agent_id, q.capability, q.status, q.escalation_level, q.escalated_to, q.expires_at, q.execution_id`;

/** A trigger for each statement: batches and sweeps write sets. */
const REQUESTS_MADE = [
  `create function emit_requests_created_v1() returns trigger language plpgsql as $$
   begin
     insert into hitl_events (${COLUMNS})
     select q.organization_id, 'hitl.created', ${OF_REQUEST} from made q order by q.id;
     return null;
   end $$`,
  `create trigger emit_requests_created after insert on hitl_requests
   referencing new table as made for each statement execute function emit_requests_created_v1()`,
];

/**
 * One change may be several events: what was edited and approved at once has been both, in this order. A set is joined with what it
 * was by hashing: rows of a transition have no index, so in a loop a set twice as large would take four times as long.
 */
const REQUESTS_CHANGED = [
  `create function emit_requests_changed_v1() returns trigger language plpgsql
   set jit = off set enable_hashjoin = on set enable_nestloop = off as $$
   begin
     insert into hitl_events (${COLUMNS})
     select q.organization_id, e.event, ${OF_REQUEST}
     from after_change q
     join before_change o on o.organization_id = q.organization_id and o.id = q.id
     cross join lateral (values
       (1, 'hitl.edited', q.version is distinct from o.version),
       (2, 'hitl.escalated', q.escalation_level is distinct from o.escalation_level or q.escalated_at is distinct from o.escalated_at
          or (q.status is distinct from o.status and q.status = 'escalated')),
       (3, 'hitl.reminded', q.reminded_seconds is distinct from o.reminded_seconds and q.reminded_seconds is not null),
       (4, 'hitl.' || q.status, q.status is distinct from o.status and q.status in ('approved', 'rejected', 'timed_out', 'cancelled'))
     ) as e(place, event, happened)
     where e.happened
     order by q.id, e.place;
     return null;
   end $$`,
  `create trigger emit_requests_changed after update on hitl_requests
   referencing old table as before_change new table as after_change for each statement execute function emit_requests_changed_v1()`,
];

const VOTES_GIVEN = [
  `create function emit_votes_given_v1() returns trigger language plpgsql as $$
   begin
     insert into hitl_events (${COLUMNS})
     select q.organization_id, 'hitl.voted', ${OF_REQUEST}
     from given v join hitl_requests q on q.organization_id = v.organization_id and q.id = v.request_id
     order by q.id, v.voter;
     return null;
   end $$`,
  `create trigger emit_votes_given after insert on hitl_votes
   referencing new table as given for each statement execute function emit_votes_given_v1()`,
];

/** For each row, and only of executions that belong to a request: most do not, and shall not pay for it. */
const EXECUTIONS_ENDED = [
  `create function emit_executions_ended_v1() returns trigger language plpgsql as $$
   begin
     insert into hitl_events (${COLUMNS}, execution_status)
     select q.organization_id, 'execution.' || new.status, ${OF_REQUEST}, new.status
     from hitl_requests q where q.organization_id = new.organization_id and q.id = new.hitl_request_id;
     return null;
   end $$`,
  `create trigger emit_executions_ended after update of status on executions for each row
   when (new.hitl_request_id is not null and new.status is distinct from old.status
     and new.status in ('executed', 'failed', 'indeterminate', 'blocked', 'cancelled'))
   execute function emit_executions_ended_v1()`,
];

export const HITL_EVENTS = [...TABLE, ...REQUESTS_MADE, ...REQUESTS_CHANGED, ...VOTES_GIVEN, ...EXECUTIONS_ENDED];
