import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why: whoever owns the database can write that another key signs. Of every key behind the first, `note` is signed by the one before it;
 * a key without is none.
 */
export class VouchForKeys20261124000800 implements MigrationInterface {
  name = 'VouchForKeys20261124000800';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table audit_signing_keys add column note text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table audit_signing_keys drop column note');
  }
}
