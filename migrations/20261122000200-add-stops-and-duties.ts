import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why: a stop is a fact that the gate and every decision read; and who is behind a request is frozen in it when it is made,
 * so that nobody loosens the rules of a decision that is already asked for.
 */
export class AddStopsAndDuties20261122000200 implements MigrationInterface {
  name = 'AddStopsAndDuties20261122000200';

  async up(runner: QueryRunner): Promise<void> {
    // A stop of everything belongs to the platform's own organization; an agent's stop follows the agent.
    await runner.query(`
      create table stops (
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
      )`);
    await runner.query(`create index stops_in_force on stops (organization_id, agent_id) where lifted_at is null`);
    // What was approved and has not begun is cancelled by a stop, and when its agent goes to another organization.
    await runner.query(`create index executions_waiting on executions (organization_id, agent_id) where status = 'pending_hitl'`);
    await runner.query(`
      alter table hitl_requests
        add column separation_of_duties text not null default 'standard' check (separation_of_duties in ('standard', 'strict')),
        add column initiators text[] not null default '{}',
        add column agent_owner_id text collate "C",
        add column agent_registered_by text collate "C",
        add column vouched_by text collate "C",
        add column team_id text collate "C",
        add column break_glass boolean not null default false,
        add column decider_level integer check (decider_level between 0 and 2),
        add column clock_credited_to timestamptz(3)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index executions_waiting`);
    await runner.query(`drop table stops`);
    await runner.query(`
      alter table hitl_requests drop column separation_of_duties, drop column initiators, drop column agent_owner_id,
        drop column agent_registered_by, drop column vouched_by, drop column team_id, drop column break_glass,
        drop column decider_level, drop column clock_credited_to`);
  }
}
