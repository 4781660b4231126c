import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why: organizations, agents, capabilities and grants: what the gate decides over. Free objects are json, not jsonb,
 * so that they come back as they were given. No foreign keys: the chain's head is an agent's point of order, and
 * plans cached while the referenced tables were empty cost the hot path more than half of its speed.
 */
export class CreateRegistry20261121000200 implements MigrationInterface {
  name = 'CreateRegistry20261121000200';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table instance (
        only_row              boolean primary key default true check (only_row),
        name                  text not null,
        first_organization_id text collate "C" not null,
        root_key_hash         text not null check (root_key_hash ~ '^[0-9a-f]{64}$'),
        root_key_created_at   timestamptz(3) not null default now(),
        secret_fingerprints   json not null
      )`);
    await runner.query(`
      create table organizations (
        id         text collate "C" primary key,
        name       text not null,
        revision   bigint not null default 0,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null
      )`);
    await runner.query(`
      create table agents (
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
        primary key (organization_id, id)
      )`);
    // A token names agent and organization, root names the agent alone.
    await runner.query(`create index agents_by_id on agents (id)`);
    await runner.query(`
      create table refreshed_tokens (
        organization_id text collate "C" not null,
        agent_id        text collate "C" not null,
        jti             text collate "C" not null,
        spent_until     timestamptz(3) not null,
        primary key (organization_id, agent_id, jti)
      )`);
    await runner.query(`
      create table capability_definitions (
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
      )`);
    await runner.query(`
      create table capability_grants (
        organization_id text collate "C" not null,
        id              text collate "C" not null,
        agent_id        text collate "C" not null,
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
        primary key (organization_id, id)
      )`);
    await runner.query(`
      create unique index capability_grants_one_active on capability_grants (organization_id, agent_id, capability)
      where revoked_at is null`);
    // With the agent in it, either index finds the one grant that the gate asks for: before a table's first statistics the
    // planner cannot tell them apart, and would read all holders of a capability for one of them.
    await runner.query(`
      create index capability_grants_holders on capability_grants (organization_id, capability, agent_id)
      where revoked_at is null`);
    await runner.query(`
      create table outbox (
        organization_id text collate "C" not null,
        id              bigint generated always as identity,
        kind            text not null,
        payload         json not null,
        created_at      timestamptz(3) not null default clock_timestamp(),
        available_at    timestamptz(3) not null default clock_timestamp(),
        attempts        integer not null default 0,
        primary key (organization_id, id)
      )`);
    await runner.query(`create index outbox_due on outbox (kind, available_at)`);
    await runner.query(`
      create table idempotency_keys (
        organization_id text collate "C" not null,
        scope           text collate "C" not null,
        fingerprint     text not null,
        execution_id    text collate "C",
        status          integer,
        body            text,
        created_at      timestamptz(3) not null default clock_timestamp(),
        primary key (organization_id, scope)
      )`);
    await runner.query(`create index idempotency_keys_age on idempotency_keys (created_at)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['idempotency_keys', 'outbox', 'capability_grants', 'capability_definitions', 'refreshed_tokens', 'agents',
      'organizations', 'instance']) {
      await runner.query(`drop table ${table}`);
    }
  }
}
