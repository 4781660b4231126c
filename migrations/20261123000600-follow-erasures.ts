import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why: an erasure goes over a log that grows meanwhile. Up to which position of each chain it has covered it, and up to which its
 * present round goes, stands in columns of their own: written once a round, while `place` is written with each step.
 */
export class FollowErasures20261123000600 implements MigrationInterface {
  name = 'FollowErasures20261123000600';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table erasures add column covered json not null default '{}', add column target json not null default '{}'`);
    await runner.query(`create index erasures_open on erasures (asked_at) where state in ('unconfirmed', 'running')`);
    await runner.query(`create index erasures_of_user on erasures (user_id) where user_id is not null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index erasures_open, erasures_of_user');
    await runner.query('alter table erasures drop column covered, drop column target');
  }
}
