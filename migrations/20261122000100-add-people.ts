import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why: people decide, administer and audit. Users, their keys, teams, and who owns an agent; nothing here is looked up by
 * a name that two organizations could share. Times at which rights began (`role_since`, `since`) stay, because under strict
 * separation of duties a decider's rights must be older than the request; so does `email_since`, because an action is asked for
 * on behalf of an address, whoever had it then.
 */
export class AddPeople20261122000100 implements MigrationInterface {
  name = 'AddPeople20261122000100';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table tenants (
        id         text collate "C" primary key,
        name       text not null,
        created_at timestamptz(3) not null default clock_timestamp()
      )`);
    await runner.query(`
      alter table organizations
        add column tenant_id text collate "C",
        add column separation_of_duties text not null default 'standard' check (separation_of_duties in ('standard', 'strict'))`);
    await runner.query(`create index organizations_of_tenant on organizations (tenant_id) where tenant_id is not null`);
    await runner.query(`
      create table users (
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
      )`);
    // The address of a closed account may be given to a new one.
    await runner.query(`create unique index users_email on users (organization_id, email_folded) where status = 'active'`);
    await runner.query(`create index users_by_id on users (id)`);
    await runner.query(`
      create table personal_keys (
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
      )`);
    // A key names its organization only by being found.
    await runner.query(`create index personal_keys_by_hash on personal_keys (key_hash) where revoked_at is null`);
    await runner.query(`create index personal_keys_of_user on personal_keys (organization_id, user_id, id)`);
    await runner.query(`
      create table teams (
        organization_id text collate "C" not null,
        id              text collate "C" not null,
        name            text not null,
        description     text,
        created_at      timestamptz(3) not null,
        updated_at      timestamptz(3) not null,
        primary key (organization_id, id)
      )`);
    await runner.query(`
      create table team_members (
        organization_id text collate "C" not null,
        team_id         text collate "C" not null,
        user_id         text collate "C" not null,
        role            text not null check (role in ('member', 'lead')),
        since           timestamptz(3) not null,
        role_since      timestamptz(3) not null,
        primary key (organization_id, team_id, user_id)
      )`);
    await runner.query(`create index team_members_by_user on team_members (organization_id, user_id)`);
    await runner.query(`alter table agents add column owner_id text collate "C", add column team_id text collate "C"`);
    await runner.query(`create index agents_of_team on agents (organization_id, team_id) where team_id is not null`);
    await runner.query(`
      create table setup_tokens (
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
      )`);
    await runner.query(`create index setup_tokens_by_hash on setup_tokens (token_hash)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table setup_tokens, team_members, teams, personal_keys, users`);
    await runner.query(`alter table agents drop column owner_id, drop column team_id`);
    await runner.query(`alter table organizations drop column tenant_id, drop column separation_of_duties`);
    await runner.query(`drop table tenants`);
  }
}
