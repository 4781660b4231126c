import { FirstSchema } from './shared/first-schema.js';

/**
 * Why: which agent was found for what, and who gave which task to whom. The routing log is the last 200 decisions of an organization and
 * no part of the audit log: a delegation that rests on one names it in its entry.
 */
export class CreateTasks20261121001000 extends FirstSchema {
  readonly name = 'CreateTasks20261121001000';
  protected readonly statements = [...ROUTING, ...TASKS];
}

const ROUTING = [
  `create table routing_decisions (
    organization_id text collate "C" not null,
    id              text collate "C" not null,
    capabilities    text[] not null,
    description     text,
    tags            text[] not null,
    team_id         text collate "C",
    exclude         text[] not null,
    agent_id        text collate "C",
    agent_name      text,
    score           double precision,
    candidates      json not null,
    asked_by        text collate "C" not null,
    created_at      timestamptz(3) not null,
    primary key (organization_id, id)
  )`,
];

const TASKS = [
  // status: `taken` by the one execution that does it, whose end is the task's; shown are the words of the interface. chain: agents, the
  // first to have it first and the assignee last. ancestors: the tasks that it is part of, the first one first.
  `create table tasks (
    organization_id text collate "C" not null,
    id              text collate "C" not null,
    parent_id       text collate "C",
    ancestors       text[] not null,
    capability      text collate "C" not null,
    input           text not null,
    description     text,
    from_agent_id   text collate "C",
    to_agent_id     text collate "C" not null,
    chain           text[] not null,
    delegated_by    text collate "C" not null,
    initiator       text collate "C",
    decision_id     text collate "C",
    status          text not null check (status in ('assigned', 'taken', 'cancelled')),
    execution_id    text collate "C",
    reason          text,
    created_at      timestamptz(3) not null,
    ended_at        timestamptz(3),
    primary key (organization_id, id)
  )`,
  // The gate looks for the open task that a call is equal to; a task's end ends what was delegated within it.
  `create index tasks_assigned on tasks (organization_id, to_agent_id, capability, id) where status = 'assigned'`,
  `create index tasks_of_agent on tasks (organization_id, to_agent_id, id)`,
  `create index tasks_within on tasks using gin (ancestors)`,
  // Whether one of these tasks has ended: by its own end, or with the execution that did it.
  `create function has_ended_task_v1(p_organization text, p_ids text[]) returns boolean language sql stable as $$
    select exists (
      select from tasks t left join executions e on e.organization_id = t.organization_id and e.id = t.execution_id
      where t.organization_id = p_organization and t.id = any (p_ids)
        and (t.status = 'cancelled' or e.status not in ('pending_hitl', 'running')))
  $$`,
];
