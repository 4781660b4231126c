/**
 * Why: chains alone accept a cut tail and a removed agent. Leaves of the queue grow into a tree for each organization, the trees'
 * heads into one map, the maps into the platform's tree, and signed checkpoints of these go to anchors outside of the database.
 */
const GROWING = [
  // One row for each tree: of an organization by its id, and `platform`. The tail is the last `size % 256` leaves, not yet a tile;
  // `root` is base64, of the empty tree SHA-256(''). `tail_data` is the platform's alone: the texts of its leaves. Rows change with
  // each round of growth and are few: dead ones must not wait for a share of the table.
  `create table audit_trees (
    organization_id text collate "C" primary key,
    size            bigint not null default 0 check (size >= 0),
    root            text not null,
    tail_chains     text[] not null default '{}',
    tail_seqs       bigint[] not null default '{}',
    tail_hashes     text[] not null default '{}',
    tail_data       text[] not null default '{}',
    integrated_at   timestamptz(3) not null
  ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`,
  // Full tiles of level 0, each of 256 leaves with their entries' hashes of 32 bytes. Written once and read by their keys. Beside each
  // tile stands its `root`: for a proof the roots of up to 255 tiles are 8 KB, while computing them from their leaves reads 6 MB.
  // Verification recomputes them from the leaves and believes none.
  `create table audit_tree_leaves (
    organization_id text collate "C" not null,
    tile            bigint not null,
    chains          text[] not null,
    seqs            bigint[] not null,
    hashes          bytea not null,
    integrated_at   timestamptz(3) not null,
    root            bytea not null check (length(root) = 32),
    primary key (organization_id, tile),
    check (cardinality(chains) = 256 and cardinality(seqs) = 256 and length(hashes) = 8192)
  )`,
  `create index audit_tree_leaves_time on audit_tree_leaves (organization_id, integrated_at)`,
  `create table audit_platform_leaves (
    tile bigint primary key,
    data text[] not null check (cardinality(data) = 256),
    root bytea not null check (length(root) = 32)
  )`,
  // From level 1 up, 256 roots of full subtrees. Level 0 and right edges are never stored: they are computed from what is below.
  `create table audit_tree_tiles (
    organization_id text collate "C" not null,
    level           smallint not null check (level between 1 and 7),
    tile            bigint not null,
    hashes          bytea not null check (length(hashes) = 8192),
    root            bytea not null check (length(root) = 32),
    primary key (organization_id, level, tile)
  )`,
  // Tiles are hashes, which compression only costs time.
  ...['audit_tree_leaves', 'audit_tree_tiles'].map((table) => `alter table ${table} alter column hashes set storage external`),
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

const SIGNED = [
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
  // Old checkpoints are thinned out by their age, in all organizations at once.
  `create index audit_checkpoints_age on audit_checkpoints (made_at)`,
  // The owner of the database can write that another key signs. Of every key behind the first, `note` is signed by the key before it;
  // a key without a note is none.
  `create table audit_signing_keys (
    key_id          text primary key,
    verifier_key    text not null,
    from_size       bigint not null,
    retired_at_size bigint,
    note            text
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

export const TREES = [...GROWING, ...SIGNED];
