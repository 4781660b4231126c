import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why: whoever owns the database can append the entry of a sweep that nobody ordered, and delete what it names. `notes` are signed by the
 * server's key, one for each entry of the sweep, by its id: without one, a cut is tampering.
 */
export class SignSweeps20261124000500 implements MigrationInterface {
  name = 'SignSweeps20261124000500';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table audit_sweeps add column notes json not null default '{}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table audit_sweeps drop column notes');
  }
}
