import { withoutStatistics } from '../shared/unplanned-columns.js';

/**
 * Why: a request to people holds what they decide over, frozen when it is made: the bytes that would run, who is behind the request,
 * and what the grant says of quorum and reminders. So nobody loosens the rules of a decision that is already asked for.
 */
export const HITL_REQUESTS = [
  // requested_input: as it was asked, once it has been edited; `input` is always what would run. edit_diff: RFC 6902, from the one
  // to the other. reminded_seconds: of the last reminder given in this window.
  `create table hitl_requests (
    organization_id      text collate "C" not null,
    id                   text collate "C" not null,
    agent_id             text collate "C" not null,
    agent_name           text not null,
    capability           text collate "C" not null,
    action               text,
    hitl_mode            text not null check (hitl_mode in ('propose', 'escalate')),
    status               text not null check (status in ('pending', 'escalated', 'approved', 'rejected', 'timed_out', 'cancelled')),
    runs                 text not null check (runs in ('service', 'caller')),
    input                text not null,
    context              text,
    nonce                text not null,
    definition           text not null,
    digest               text not null,
    version              integer not null default 1,
    flagged              boolean not null,
    reasons              json not null,
    grant_id             text collate "C" not null,
    execution_id         text collate "C" not null,
    created_by           text collate "C" not null,
    created_at           timestamptz(3) not null,
    expires_at           timestamptz(3) not null,
    timeout_seconds      integer not null,
    timeout_action       text not null,
    escalation_level     integer not null check (escalation_level between 0 and 2),
    escalated_to         text collate "C",
    escalated_at         timestamptz(3),
    escalation_reason    text,
    decision_outcome     text,
    decision_by          text,
    decided_by           text collate "C",
    decided_at           timestamptz(3),
    note                 text,
    decision_entry_id    text collate "C",
    separation_of_duties text not null default 'standard' check (separation_of_duties in ('standard', 'strict')),
    initiators           text[] not null default '{}',
    agent_owner_id       text collate "C",
    agent_registered_by  text collate "C",
    vouched_by           text collate "C",
    team_id              text collate "C",
    break_glass          boolean not null default false,
    decider_level        integer check (decider_level between 0 and 2),
    clock_credited_to    timestamptz(3),
    quorum               json,
    reminders            json not null default '[]',
    remind_at            timestamptz(3),
    reminded_seconds     integer,
    requested_input      text,
    edited_by            text collate "C",
    edited_at            timestamptz(3),
    edit_diff            json,
    task_id              text collate "C",
    task_chain           text[],
    task_owner_id        text collate "C",
    primary key (organization_id, id)
  ) with (fillfactor = 85)`,
  `create index hitl_requests_of_agent on hitl_requests (organization_id, agent_id, id)`,
  `create index hitl_requests_by_status on hitl_requests (organization_id, status, id)`,
  // By organization: the sweep takes from one after the other, so that nobody waits behind somebody else's thousands.
  `create index hitl_requests_due on hitl_requests (organization_id, expires_at) where status in ('pending', 'escalated')`,
  `create index hitl_requests_to_remind on hitl_requests (organization_id, remind_at)
   where status in ('pending', 'escalated') and remind_at is not null`,
  // A person's queue is read again and again, and looks for the requests that were escalated to that person.
  `create index hitl_requests_handed_to on hitl_requests (organization_id, escalated_to)
   where status in ('pending', 'escalated') and escalated_to is not null`,
  ...withoutStatistics('hitl_requests', ['input', 'context', 'requested_input', 'nonce', 'digest', 'note']),
  // Of which version: an edit leaves the votes for the version before it behind. The digest says which bytes were voted for.
  `create table hitl_votes (
    organization_id text collate "C" not null,
    request_id      text collate "C" not null,
    version         integer not null,
    digest          text not null,
    voter           text collate "C" not null,
    note            text,
    entry_id        text collate "C" not null,
    voted_at        timestamptz(3) not null,
    primary key (organization_id, request_id, version, voter)
  )`,
];
