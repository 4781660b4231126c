import { FirstSchema } from './shared/first-schema.js';

/**
 * Why: which agent was found for what, and who gave which task to whom. The routing log is the last 200 decisions of an organization and
 * no part of the audit log: a delegation that rests on one names it in its entry.
 */
export class CreateTasks20261121001000 extends FirstSchema {
  readonly name = 'CreateTasks20261121001000';
  protected readonly statements = [...ROUTING];
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
