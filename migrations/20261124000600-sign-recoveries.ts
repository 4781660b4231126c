import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why: a server forgets what it has seen of its database when that was recovered. Whoever owns the database could say so; `recovered_note`
 * is signed by the key that signs checkpoints.
 */
export class SignRecoveries20261124000600 implements MigrationInterface {
  name = 'SignRecoveries20261124000600';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table instance add column recovered_note text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table instance drop column recovered_note');
  }
}
