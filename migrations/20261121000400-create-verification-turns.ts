import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Why: the audit log is verified once a minute for each credential (interface, section 8), on all replicas together. */
export class CreateVerificationTurns20261121000400 implements MigrationInterface {
  name = 'CreateVerificationTurns20261121000400';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table audit_verification_turns (
        credential text collate "C" primary key,
        begun_at   timestamptz(3) not null
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table audit_verification_turns');
  }
}
