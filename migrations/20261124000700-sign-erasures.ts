import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why: whoever owns the database can append the entry of an erasure that no server has carried out, and blank what it lists. Whoever
 * erases signs what the entry says with the server's key; without such a note the entry is tampering. A rotation replaces notes, and
 * a sweep takes those of the entries that it has archived.
 */
export class SignErasures20261124000700 implements MigrationInterface {
  name = 'SignErasures20261124000700';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`create table audit_erasure_notes (
      organization_id text collate "C" not null,
      entry_id        text collate "C" not null,
      note            text not null,
      primary key (organization_id, entry_id)
    )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table audit_erasure_notes');
  }
}
