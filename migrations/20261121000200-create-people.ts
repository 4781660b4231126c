import { FirstSchema } from './shared/first-schema.js';

/**
 * Why: people decide, administer and audit. Tenants and their organizations, users, their keys, and teams; nothing here is looked up
 * by a name that two organizations could share. Times at which rights began (`role_since`, `since`) stay, because under strict
 * separation of duties a decider's rights must be older than the request; so does `email_since`, because an action is asked for
 * on behalf of an address, whoever had it then.
 */
export class CreatePeople20261121000200 extends FirstSchema {
  readonly name = 'CreatePeople20261121000200';
  protected readonly statements = [...ORGANIZATIONS, ...USERS, ...TEAMS];
}

const ORGANIZATIONS = [
  `create table tenants (
    id                    text collate "C" primary key,
    name                  text not null,
    created_at            timestamptz(3) not null default clock_timestamp(),
    tier                  text not null default 'enterprise' check (tier in ('personal', 'teams', 'enterprise')),
    subscription_active   boolean not null default true,
    status                text not null default 'active' check (status in ('active', 'deleted')),
    first_organization_id text collate "C",
    updated_at            timestamptz(3) not null default clock_timestamp(),
    deleted_at            timestamptz(3)
  )`,
  `create table organizations (
    id                   text collate "C" primary key,
    name                 text not null,
    revision             bigint not null default 0,
    created_at           timestamptz(3) not null,
    updated_at           timestamptz(3) not null,
    tenant_id            text collate "C",
    separation_of_duties text not null default 'standard' check (separation_of_duties in ('standard', 'strict'))
  )`,
  `create index organizations_of_tenant on organizations (tenant_id) where tenant_id is not null`,
];

const USERS = [
  `create table users (
    organization_id text collate "C" not null,
    id              text collate "C" not null,
    email           text,
    email_folded    text,
    email_since     timestamptz(3) not null,
    name            text,
    avatar_url      text,
    role            text not null check (role in ('viewer', 'member', 'admin', 'owner')),
    role_since      timestamptz(3) not null,
    status          text not null check (status in ('active', 'deleted', 'erased')),
    vouched_by      text collate "C",
    created_at      timestamptz(3) not null,
    updated_at      timestamptz(3) not null,
    ended_at        timestamptz(3),
    primary key (organization_id, id),
    check ((status = 'active') = (ended_at is null))
  )`,
  // The address of a closed account may be given to a new one.
  `create unique index users_email on users (organization_id, email_folded) where status = 'active'`,
  `create index users_by_id on users (id)`,
  // Under strict separation of duties accounts of one address count as one person, whichever organization they are in.
  `create index users_by_address on users (email_folded) where email_folded is not null`,
  // A sign-in form knows no organization.
  `create index users_by_email on users (email_folded) where status = 'active' and email_folded is not null`,
  `create table personal_keys (
    organization_id text collate "C" not null,
    id              text collate "C" not null,
    user_id         text collate "C" not null,
    name            text not null,
    key_hash        text collate "C" not null check (key_hash ~ '^[0-9a-f]{64}$'),
    created_by      text collate "C" not null,
    created_at      timestamptz(3) not null,
    expires_at      timestamptz(3),
    revoked_at      timestamptz(3),
    revoked_by      text collate "C",
    primary key (organization_id, id)
  )`,
  // A key names its organization only by being found.
  `create index personal_keys_by_hash on personal_keys (key_hash) where revoked_at is null`,
  `create index personal_keys_of_user on personal_keys (organization_id, user_id, id)`,
];

const TEAMS = [
  `create table teams (
    organization_id text collate "C" not null,
    id              text collate "C" not null,
    name            text not null,
    description     text,
    created_at      timestamptz(3) not null,
    updated_at      timestamptz(3) not null,
    primary key (organization_id, id)
  )`,
  `create table team_members (
    organization_id text collate "C" not null,
    team_id         text collate "C" not null,
    user_id         text collate "C" not null,
    role            text not null check (role in ('member', 'lead')),
    since           timestamptz(3) not null,
    role_since      timestamptz(3) not null,
    primary key (organization_id, team_id, user_id)
  )`,
  `create index team_members_by_user on team_members (organization_id, user_id)`,
];
