import type { MigrationInterface, QueryRunner } from 'typeorm';
import { NoWayBack } from './shared/no-way-back.js';

/**
 * Why: marks (of repeated calls, forms, slow-downs, what is good once) must stay what they are while ENCRYPTION_KEY is replaced, on two
 * servers of which one has the new key. Their key is the installation's, and stands here sealed. A server fills it in at its start.
 */
export class AddMarkKey20261126000100 implements MigrationInterface {
  readonly name = 'AddMarkKey20261126000100';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table instance add column mark_key bytea');
  }

  async down(runner: QueryRunner): Promise<void> {
    const [kept] = (await runner.query('select 1 from instance where mark_key is not null')) as object[];
    if (kept) throw new NoWayBack('a server has made the key of marks, and what was marked by it would be known no more');
    await runner.query('alter table instance drop column mark_key');
  }
}
