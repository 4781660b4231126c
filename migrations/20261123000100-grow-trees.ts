import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why: chains alone accept a cut tail and a removed agent. Leaves of the queue grow into a tree for each organization, the trees'
 * heads into one map, the maps into the platform's tree, and signed checkpoints of these go to anchors outside of the database.
 * With them come the rows of what is long: sweeps, verifications, erasures, and why the installation is held.
 */
export class GrowTrees20261123000100 implements MigrationInterface {
  name = 'GrowTrees20261123000100';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [...TREES, ...CHECKPOINTS, ...LONG_WORKS]) await runner.query(statement);
    // One row comes with each commit and goes a moment later: left to a share of the table, its dead rows would pile up.
    await runner.query(`alter table audit_tree_queue
      set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000)`);
    await runner.query(`alter table instance
      add column held_because text, add column held_at timestamptz(3), add column recovered_at timestamptz(3)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    // The order of leaves is nowhere else: what has left the queue could not be integrated again as it was signed.
    await runner.query(`do $$ begin
      if exists (select from audit_trees where size > 0) then
        raise exception 'leaves have been integrated: the trees can only be removed by restoring an older backup';
      end if;
    end $$`);
    await runner.query('alter table instance drop column held_because, drop column held_at, drop column recovered_at');
    await runner.query(`alter table audit_tree_queue reset (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold)`);
    await runner.query(`drop table erasures, audit_verifications, audit_sweeps, audit_anchors, audit_signing_keys, audit_checkpoints,
      audit_map_nodes, audit_tree_tiles, audit_platform_leaves, audit_tree_leaves, audit_trees`);
  }
}

const TREES = [
  // One row for each tree: of an organization by its id, and `platform`. The tail is the last `size % 256` leaves, not yet a tile;
  // `root` is base64, of the empty tree SHA-256(''). `tail_data` is the platform's alone: the texts of its leaves.
  `create table audit_trees (
    organization_id text collate "C" primary key,
    size            bigint not null default 0 check (size >= 0),
    root            text not null,
    tail_chains     text[] not null default '{}',
    tail_seqs       bigint[] not null default '{}',
    tail_hashes     text[] not null default '{}',
    tail_data       text[] not null default '{}',
    integrated_at   timestamptz(3) not null
  ) with (fillfactor = 50)`,
  // Full tiles of level 0, each of 256 leaves with their entries' hashes of 32 bytes. Written once.
  `create table audit_tree_leaves (
    organization_id text collate "C" not null,
    tile            bigint not null,
    chains          text[] not null,
    seqs            bigint[] not null,
    hashes          bytea not null,
    integrated_at   timestamptz(3) not null,
    primary key (organization_id, tile),
    check (cardinality(chains) = 256 and cardinality(seqs) = 256 and length(hashes) = 8192)
  )`,
  `create index audit_tree_leaves_time on audit_tree_leaves (organization_id, integrated_at)`,
  `create table audit_platform_leaves (
    tile bigint primary key,
    data text[] not null check (cardinality(data) = 256)
  )`,
  // From level 1 up, 256 roots of full subtrees. Level 0 and right edges are never stored: they are computed from what is below.
  `create table audit_tree_tiles (
    organization_id text collate "C" not null,
    level           smallint not null check (level between 1 and 7),
    tile            bigint not null,
    hashes          bytea not null check (length(hashes) = 8192),
    primary key (organization_id, level, tile)
  )`,
  // Leaves of the sparse map (depth 256), and the nodes below which two or more of them stand.
  `create table audit_map_nodes (
    depth           smallint not null check (depth between 0 and 256),
    prefix          bytea not null,
    hash            bytea not null,
    organization_id text collate "C",
    size            bigint,
    root            text,
    primary key (depth, prefix)
  )`,
];

const CHECKPOINTS = [
  // `platform_size` is that of the platform's checkpoint which carries this one; of the platform's own, its size.
  `create table audit_checkpoints (
    organization_id text collate "C" not null,
    size            bigint not null,
    root            text not null,
    note            text not null,
    platform_size   bigint not null,
    made_at         timestamptz(3) not null,
    primary key (organization_id, size)
  )`,
  `create index audit_checkpoints_time on audit_checkpoints (organization_id, made_at)`,
  `create table audit_signing_keys (
    key_id          text primary key,
    verifier_key    text not null,
    from_size       bigint not null,
    retired_at_size bigint
  )`,
  `create table audit_anchors (
    destination text primary key,
    size        bigint not null default 0,
    root        text,
    note        text,
    anchored_at timestamptz(3),
    failed_at   timestamptz(3),
    error       text
  )`,
];

const LONG_WORKS = [
  `create table audit_sweeps (
    organization_id text collate "C" not null,
    id              text collate "C" not null,
    state           text not null check (state in ('writing', 'verified', 'recorded', 'done')),
    before          timestamptz(3) not null,
    cuts            json not null,
    checkpoint      json not null,
    skeleton        text,
    disclosures     text,
    entry_id        text collate "C",
    made_at         timestamptz(3) not null,
    primary key (organization_id, id)
  )`,
  // Whoever asks while a verification of the same scope runs, on whichever replica, gets its outcome.
  `create table audit_verifications (
    scope    text primary key,
    begun_at timestamptz(3) not null,
    by       text not null,
    progress json,
    outcome  json,
    ended_at timestamptz(3)
  )`,
  // `texts` are encrypted (AES-256-GCM with ENCRYPTION_KEY, the id authenticated beside them) and null once the work is done;
  // `place` says how far each step has come.
  `create table erasures (
    organization_id text collate "C" not null,
    id              text collate "C" not null,
    kind            text not null check (kind in ('user', 'values')),
    user_id         text collate "C",
    texts           bytea,
    reason          text,
    state           text not null check (state in ('unconfirmed', 'running', 'done', 'declined')),
    asked_by        text collate "C" not null,
    confirmed_by    text collate "C",
    place           json not null default '{}',
    counts          json not null default '{}',
    asked_at        timestamptz(3) not null,
    ended_at        timestamptz(3),
    primary key (organization_id, id)
  )`,
];
