import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why: the guard against forks was the widest index of the log, and the least ordered: beside two million entries it cost a third of
 * what an append costs, most of it for whole pages in the write-ahead log. Two hashes of 64 bits tell one predecessor from another as
 * well: it is a SHA-256 over salted content, which nobody can choose. The texts need not be compared, since all that is refused by
 * mistake is one append in 2^128.
 */
export class NarrowForkGuard20261124000300 implements MigrationInterface {
  name = 'NarrowForkGuard20261124000300';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('drop index audit_entries_no_fork');
    await runner.query(`create unique index audit_entries_no_fork on audit_entries (${hashOf(0)}, ${hashOf(1)})`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index audit_entries_no_fork');
    await runner.query(`create unique index audit_entries_no_fork on audit_entries (organization_id, chain, prev_hash) nulls not distinct`);
  }
}

/** A chain's first entry has no predecessor, and is the only one that has none. */
const hashOf = (seed: 0 | 1) =>
  `hashtextextended((organization_id || ' ' || chain || ' ' || coalesce(prev_hash, '')) collate "C", ${seed})`;
