import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Why: a person's queue is read again and again, and a request that was handed to somebody is looked for by that somebody. */
export class IndexQueues20261122000800 implements MigrationInterface {
  name = 'IndexQueues20261122000800';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`create index hitl_requests_handed_to on hitl_requests (organization_id, escalated_to)
      where status in ('pending', 'escalated') and escalated_to is not null`);
    // Under strict separation of duties accounts of one address count as one person, whichever organization they are in.
    await runner.query(`create index users_by_address on users (email_folded) where email_folded is not null`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index hitl_requests_handed_to, users_by_address`);
  }
}
