import type { MigrationInterface, QueryRunner } from 'typeorm';
import { NoWayBack } from './no-way-back.js';

/**
 * Why: the first schema is six migrations that only create. None can be undone: a dropped table is a part of the record that
 * is lost, so the way back is a backup.
 */
export abstract class FirstSchema implements MigrationInterface {
  abstract readonly name: string;
  protected abstract readonly statements: readonly string[];

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of this.statements) await runner.query(statement);
  }

  async down(): Promise<void> {
    throw new NoWayBack('what it made holds a part of the record; restore a backup of before instead');
  }
}
