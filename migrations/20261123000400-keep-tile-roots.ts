import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why: a proof needs the roots of up to 255 full tiles left of it. Computed from their leaves that is 6 MB to read and 65,000
 * hashes for each proof; kept beside each tile it is 8 KB. Verification recomputes them from the leaves and believes none.
 */
export class KeepTileRoots20261123000400 implements MigrationInterface {
  name = 'KeepTileRoots20261123000400';

  async up(runner: QueryRunner): Promise<void> {
    // No tile has been written before this: nothing grew the trees.
    for (const table of TILES) await runner.query(`alter table ${table} add column root bytea not null check (length(root) = 32)`);
    // Written once and read by their keys; and their payload is hashes, which compression only costs time.
    await runner.query('alter table audit_tree_leaves alter column hashes set storage external');
    await runner.query('alter table audit_tree_tiles alter column hashes set storage external');
    // Old checkpoints are thinned out by their age, whosever they are.
    await runner.query('create index audit_checkpoints_age on audit_checkpoints (made_at)');
    // Changed with each round, and small: its dead rows must not wait for a share of it.
    await runner.query('alter table audit_trees set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index audit_checkpoints_age');
    await runner.query('alter table audit_trees reset (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold)');
    for (const table of TILES) await runner.query(`alter table ${table} drop column root`);
    await runner.query('alter table audit_tree_leaves alter column hashes set storage extended');
    await runner.query('alter table audit_tree_tiles alter column hashes set storage extended');
  }
}

const TILES = ['audit_tree_leaves', 'audit_platform_leaves', 'audit_tree_tiles'] as const;
