import { withoutStatistics } from '../shared/unplanned-columns.js';

/**
 * Why: entries, the heads of their chains, the queue of leaves, and the people that entries name. Payloads and disclosures are
 * text, never jsonb: jsonb reorders members and respells numbers, and the hash covers the exact bytes. Primary keys start with
 * organization_id, so that the tables can be distributed by it later without a rewrite of history.
 */
const TABLES = [
  `create table audit_heads (
    organization_id text collate "C" not null,
    chain           text collate "C" not null,
    seq             bigint  not null default 0,
    hash            text,
    revision        bigint  not null default 0,
    open_requests   integer not null default 0 constraint audit_heads_open_requests_not_negative check (open_requests >= 0),
    open_tasks      integer not null default 0 constraint audit_heads_open_tasks_not_negative check (open_tasks >= 0),
    closed_at       timestamptz(3),
    primary key (organization_id, chain)
  ) with (fillfactor = 50)`,
  // A reader that asks for an agent in all organizations finds the few in which that agent has been.
  `create index audit_heads_chain on audit_heads (chain)`,
  // Digests and salts do not compress: an entry of usual size stays in its row, rather than being tried and moved beside it.
  `create table audit_entries (
    organization_id text collate "C" not null,
    chain           text collate "C" not null,
    seq             bigint not null,
    id              text collate "C" not null,
    event           text not null,
    agent_id        text collate "C",
    actor_id        text collate "C" not null,
    capability      text,
    outcome         text,
    "timestamp"     text collate "C" not null check (length("timestamp") = 24),
    payload         text not null,
    disclosures     text not null,
    prev_hash       text collate "C",
    hash            text collate "C" not null,
    primary key (organization_id, chain, seq)
  ) with (toast_tuple_target = 4080)`,
  `create unique index audit_entries_id on audit_entries (organization_id, id)`,
  // One row comes with each commit and goes a moment later: left to a share of the table, its dead rows would pile up.
  `create table audit_tree_queue (
    organization_id text collate "C" not null,
    id              bigint generated always as identity,
    chains          text[] not null,
    seqs            bigint[] not null,
    hashes          text[] not null,
    primary key (organization_id, id)
  ) with (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000)`,
  // From `chain` on a subject's row repeats what its entry says, so that a person's entries are found and counted without reading them.
  `create table audit_subjects (
    organization_id text collate "C" not null,
    user_id         text collate "C" not null,
    entry_id        text collate "C" not null,
    pointer         text not null,
    chain           text collate "C" not null,
    seq             bigint not null,
    event           text not null,
    capability      text,
    outcome         text,
    "timestamp"     text collate "C" not null,
    primary key (organization_id, user_id, entry_id, pointer)
  )`,
];

interface HashIndex {
  readonly name: string;
  readonly table: 'audit_entries' | 'audit_subjects';
  readonly hashed: readonly string[];
  readonly behind: string;
  /** Columns in the index's leaves, which are compared without reading the entry. */
  readonly included?: string;
  readonly where?: string;
}

/**
 * A log of millions is asked by event, agent, person, capability, outcome and time, and by each two of them together: every pair has
 * an index that leads to its entries and to no others, so that a pair that is rare together costs no more than its own entries. Keys
 * are hashes of 64 bits: short, quick to compare, and no wrong estimate makes the planner use another index instead. Readers compare the
 * texts too.
 */
const HASH_INDEXES: readonly HashIndex[] = [
  {
    name: 'audit_entries_event', table: 'audit_entries', hashed: ['organization_id', 'event'], behind: 'id',
    included: 'organization_id, event, "timestamp"',
  },
  {
    name: 'audit_entries_capability', table: 'audit_entries', hashed: ['organization_id', 'capability', 'event'], behind: 'id',
    included: 'organization_id, capability, event, "timestamp"', where: 'capability is not null',
  },
  {
    name: 'audit_entries_agent_event', table: 'audit_entries', hashed: ['organization_id', 'agent_id', 'event'], behind: 'seq',
    where: 'agent_id is not null',
  },
  {
    name: 'audit_entries_agent_capability', table: 'audit_entries', hashed: ['organization_id', 'agent_id', 'capability'], behind: 'seq',
    where: 'agent_id is not null and capability is not null',
  },
  { name: 'audit_subjects_event', table: 'audit_subjects', hashed: ['organization_id', 'user_id', 'event'], behind: 'entry_id' },
  {
    name: 'audit_subjects_capability', table: 'audit_subjects', hashed: ['organization_id', 'user_id', 'capability'], behind: 'entry_id',
    where: 'capability is not null',
  },
  { name: 'audit_subjects_chain', table: 'audit_subjects', hashed: ['organization_id', 'user_id', 'chain'], behind: 'seq' },
];

/** Each hash is asked for as it is, in the one index that has it, whatever an estimate would say: no statistics are kept of it. */
function createHashIndex({ name, table, hashed, behind, included, where }: HashIndex): string[] {
  return [
    `create index ${name} on ${table} (${hashOf(hashed, 0)}, ${behind})
      ${included === undefined ? '' : `include (${included})`} ${where === undefined ? '' : `where ${where}`}`,
    `alter index ${name} alter column 1 set statistics 0`,
  ];
}

/**
 * Two entries with one predecessor are a fork; a chain's first entry has none, and is the only one without. Compared are two hashes of
 * 64 bits: with the texts themselves this was the widest index of the log, and the least ordered, and cost a third of an append beside
 * two million entries. A predecessor is a SHA-256 over salted content, which nobody can choose: by mistake one append in 2^128 is refused.
 */
const FORK_GUARD = [
  `create unique index audit_entries_no_fork on audit_entries (${predecessorHash(0)}, ${predecessorHash(1)})`,
  ...[1, 2].map((column) => `alter index audit_entries_no_fork alter column ${column} set statistics 0`),
];

function predecessorHash(seed: 0 | 1): string {
  return hashOf(['organization_id', 'chain', `coalesce(prev_hash, '')`], seed);
}

function hashOf(texts: readonly string[], seed: 0 | 1): string {
  return `hashtextextended((${texts.join(` || ' ' || `)}) collate "C", ${seed})`;
}

export const ENTRIES = [
  ...TABLES,
  ...withoutStatistics('audit_entries', ['payload', 'disclosures', 'hash', 'prev_hash']),
  ...HASH_INDEXES.flatMap(createHashIndex),
  ...FORK_GUARD,
];
