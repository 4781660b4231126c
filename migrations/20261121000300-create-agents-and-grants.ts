import { FirstSchema } from './shared/first-schema.js';

/**
 * Why: agents, their tokens and keys, capabilities, grants with their limits, and stops: what the gate decides over. Free objects are
 * json, not jsonb, so that they come back as they were given. No foreign keys: the chain's head is an agent's point of order, and plans
 * cached while the referenced tables were empty cost the hot path more than half of its speed.
 */
export class CreateAgentsAndGrants20261121000300 extends FirstSchema {
  readonly name = 'CreateAgentsAndGrants20261121000300';
  protected readonly statements = [...AGENTS, ...CAPABILITIES, ...LIMITS, ...STOPS];
}

const AGENTS = [
  `create table agents (
    organization_id text collate "C" not null,
    id              text collate "C" not null,
    name            text not null,
    description     text,
    risk_level      text not null check (risk_level in ('minimal', 'limited', 'high', 'unacceptable')),
    status          text not null check (status in ('active', 'deactivated', 'removed')),
    tags            text[] not null,
    metadata        json not null,
    epoch           bigint not null default 0,
    registered_by   text collate "C" not null,
    node_last_seen  timestamptz(3),
    created_at      timestamptz(3) not null,
    updated_at      timestamptz(3) not null,
    owner_id        text collate "C",
    team_id         text collate "C",
    primary key (organization_id, id)
  )`,
  // A token names agent and organization, root names the agent alone.
  `create index agents_by_id on agents (id)`,
  `create index agents_of_team on agents (organization_id, team_id) where team_id is not null`,
  `create table refreshed_tokens (
    organization_id text collate "C" not null,
    agent_id        text collate "C" not null,
    jti             text collate "C" not null,
    spent_until     timestamptz(3) not null,
    primary key (organization_id, agent_id, jti)
  )`,
  `create table setup_tokens (
    organization_id text collate "C" not null,
    id              text collate "C" not null,
    agent_id        text collate "C" not null,
    token_hash      text collate "C" not null check (token_hash ~ '^[0-9a-f]{64}$'),
    epoch           bigint not null,
    issued_by       text collate "C" not null,
    issued_at       timestamptz(3) not null,
    expires_at      timestamptz(3) not null,
    used_at         timestamptz(3),
    node_id         text,
    primary key (organization_id, id)
  )`,
  `create index setup_tokens_by_hash on setup_tokens (token_hash)`,
  // epoch: the agent's when the key was made; raised, it ends the key without a write to its row.
  `create table agent_keys (
    organization_id text collate "C" not null,
    id              text collate "C" not null,
    agent_id        text collate "C" not null,
    name            text not null,
    secret_hash     text collate "C" not null check (secret_hash ~ '^[0-9a-f]{64}$'),
    epoch           bigint not null,
    created_by      text collate "C" not null,
    created_at      timestamptz(3) not null,
    expires_at      timestamptz(3),
    primary key (organization_id, id)
  )`,
  // A key names its organization only by being found.
  `create index agent_keys_by_hash on agent_keys (secret_hash)`,
  `create index agent_keys_of_agent on agent_keys (organization_id, agent_id, id)`,
];

const CAPABILITIES = [
  `create table capability_definitions (
    organization_id   text collate "C" not null,
    name              text collate "C" not null,
    custom            boolean not null,
    category          text not null,
    description       text not null,
    default_hitl_mode text not null,
    risk_score        integer not null check (risk_score between 0 and 100),
    input_schema      json,
    connector         json,
    digest            text not null,
    created_at        timestamptz(3) not null,
    updated_at        timestamptz(3) not null,
    primary key (organization_id, name)
  )`,
  // An agent holds a grant, or a team does for each of its agents.
  `create table capability_grants (
    organization_id text collate "C" not null,
    id              text collate "C" not null,
    agent_id        text collate "C",
    capability      text collate "C" not null,
    hitl_mode       text not null,
    timeout_seconds integer check (timeout_seconds between 1 and 2592000),
    timeout_action  text not null,
    conditions      json not null,
    expires_at      timestamptz(3),
    version         integer not null,
    granted_at      timestamptz(3) not null,
    granted_by      text collate "C" not null,
    revoked_at      timestamptz(3),
    revoked_by      text collate "C",
    team_id         text collate "C",
    limits          json not null default '[]',
    quorum          json,
    reminders       json not null default '[]',
    primary key (organization_id, id),
    constraint capability_grants_one_holder check ((agent_id is null) <> (team_id is null))
  )`,
  `create unique index capability_grants_one_active on capability_grants (organization_id, agent_id, capability)
   where revoked_at is null`,
  `create unique index capability_grants_one_active_of_team on capability_grants (organization_id, team_id, capability)
   where revoked_at is null and team_id is not null`,
  // With the agent in it, either index finds the one grant that the gate asks for: before a table's first statistics the
  // planner cannot distinguish them, and would read all holders of a capability for one of them.
  `create index capability_grants_holders on capability_grants (organization_id, capability, agent_id)
   where revoked_at is null`,
];

/**
 * A grant may say how much may be done under it. Each use is a row while it can still be given back or falls into a window; totals
 * are kept beside, so that "ever" costs no more than "this minute".
 */
const LIMITS = [
  // One row a grant with limits: the point of order of everyone who counts on it.
  `create table grant_usage (
    organization_id text collate "C" not null,
    grant_id        text collate "C" not null,
    revision        bigint not null default 0,
    primary key (organization_id, grant_id)
  ) with (fillfactor = 50)`,
  // measure: empty for the number of uses, else the digest of the expression that is summed. waiting: of a call that has not
  // begun, so its share may still be given back, however old it is.
  `create table grant_uses (
    organization_id text collate "C" not null,
    grant_id        text collate "C" not null,
    measure         text collate "C" not null,
    execution_id    text collate "C" not null,
    amount          numeric not null check (amount >= 0),
    waiting         boolean not null,
    used_at         timestamptz(3) not null default clock_timestamp(),
    primary key (organization_id, execution_id, grant_id, measure)
  )`,
  `create index grant_uses_in_window on grant_uses (organization_id, grant_id, measure, used_at)`,
  `create index grant_uses_age on grant_uses (used_at) where not waiting`,
  `create table grant_totals (
    organization_id text collate "C" not null,
    grant_id        text collate "C" not null,
    measure         text collate "C" not null,
    amount          numeric not null check (amount >= 0),
    primary key (organization_id, grant_id, measure)
  ) with (fillfactor = 50)`,
];

const STOPS = [
  // A stop of everything belongs to the platform's own organization; an agent's stop follows the agent.
  `create table stops (
    organization_id text collate "C" not null,
    id              text collate "C" not null,
    scope           text not null check (scope in ('agent', 'organization', 'all')),
    agent_id        text collate "C",
    reason          text not null,
    made_by         text collate "C" not null,
    made_by_role    text not null check (made_by_role in ('root', 'owner', 'admin')),
    made_at         timestamptz(3) not null,
    lifted_by       text collate "C",
    lifted_at       timestamptz(3),
    primary key (organization_id, id),
    check ((scope = 'agent') = (agent_id is not null)),
    check ((scope = 'all') = (organization_id = 'org_platform'))
  )`,
  `create index stops_in_force on stops (organization_id, agent_id) where lifted_at is null`,
];
