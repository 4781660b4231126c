import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why: what is written stays as it was written. Triggers refuse every change of the log but two: an erasure blanks disclosures, a
 * sweep deletes what it has archived, each through a function of its own that opens its door for as long as it runs. They stop
 * accidents and this program; a superuser and the owner of the tables pass them, and are found by verification. No trigger fires on
 * INSERT, so that appending costs what it did.
 */
export class ForbidRewriting20261123000200 implements MigrationInterface {
  name = 'ForbidRewriting20261123000200';

  async up(runner: QueryRunner): Promise<void> {
    const functions = [IS_APPEND_ONLY_V1, KEEPS_ALL_BUT_DISCLOSURES_V1, ERASE_DISCLOSURES_V1, SWEEP_ENTRIES_V1, SWEEP_SUBJECTS_V1];
    for (const statement of [...functions, ...TRIGGERS]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop function erase_disclosures_v1, sweep_entries_v1, sweep_subjects_v1');
    // Their triggers go with them.
    await runner.query('drop function audit_is_append_only_v1, audit_keeps_all_but_disclosures_v1 cascade');
  }
}

/** The trigger's argument is the door that lets this pass; without one nothing does. */
const IS_APPEND_ONLY_V1 = `
create function audit_is_append_only_v1() returns trigger language plpgsql as $$
begin
  if tg_nargs > 0 and current_setting('countersign.door', true) = tg_argv[0] then return null; end if;
  raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op) using errcode = 'CS002';
end $$`;

const KEEPS_ALL_BUT_DISCLOSURES_V1 = `
create function audit_keeps_all_but_disclosures_v1() returns trigger language plpgsql as $$
declare
  v_wanted audit_entries := old;
begin
  v_wanted.disclosures := new.disclosures;
  if current_setting('countersign.door', true) = 'erasure' and new is not distinct from v_wanted then return new; end if;
  raise exception '% is append-only: update is refused', tg_table_name using errcode = 'CS002';
end $$`;

const refused = (table: string, operations: string, name: string, door = '') => `create trigger ${name}
  before ${operations} on ${table} for each statement execute function audit_is_append_only_v1(${door})`;

const TRIGGERS = [
  `create trigger audit_entries_keep before update on audit_entries
     for each row execute function audit_keeps_all_but_disclosures_v1()`,
  refused('audit_entries', 'delete', 'audit_entries_stay', `'sweep'`),
  refused('audit_entries', 'truncate', 'audit_entries_are_not_emptied'),
  refused('audit_subjects', 'delete', 'audit_subjects_stay', `'sweep'`),
  refused('audit_subjects', 'update or truncate', 'audit_subjects_keep'),
  // A chain that was swept whole goes on from its head, however old.
  refused('audit_heads', 'delete or truncate', 'audit_heads_stay'),
  refused('audit_trees', 'delete or truncate', 'audit_trees_stay'),
  // Leaves leave the queue for their tree; they do not change on the way.
  refused('audit_tree_queue', 'update or truncate', 'audit_tree_queue_keeps'),
  ...['audit_tree_leaves', 'audit_tree_tiles', 'audit_platform_leaves']
    .map((table) => refused(table, 'update or delete or truncate', `${table}_stay`)),
];

/** Rows are looked up by their keys here, also where a plan was cached while a table was young and small. */
const BY_KEY_ONLY = `set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off`;

/** Until the function shuts it, or fails: then the setting goes back with all that it did. A `set` clause would need a superuser. */
const OPEN = (door: 'erasure' | 'sweep') => `perform set_config('countersign.door', '${door}', true);`;
const SHUT = `perform set_config('countersign.door', '', true);`;

/**
 * Gives entries, by their ids, new disclosures: each where they still are what the caller has read (compare and set). Answers how
 * many it changed; the caller, which has recorded what it erases, takes anything but all of them for a reason to start over.
 */
const ERASE_DISCLOSURES_V1 = `
create function erase_disclosures_v1(p_organization text, p_entries text[], p_old text[], p_new text[])
returns integer language plpgsql volatile ${BY_KEY_ONLY} as $$
declare
  v_count integer;
begin
  ${OPEN('erasure')}
  update audit_entries e set disclosures = c.after
  from unnest(p_entries, p_old, p_new) as c(id, before, after)
  where e.organization_id = p_organization and e.id = c.id and e.disclosures = c.before;
  get diagnostics v_count = row_count;
  ${SHUT}
  return v_count;
end $$`;

/**
 * Deletes the first entries of each chain up to the position beside it, at most so many in all, chain by chain and oldest first:
 * what survives a half-done sweep is contiguous. Answers how many went; fewer than the limit is the end.
 */
const SWEEP_ENTRIES_V1 = `
create function sweep_entries_v1(p_organization text, p_chains text[], p_last_seqs bigint[], p_limit integer)
returns bigint language plpgsql volatile ${BY_KEY_ONLY} as $$
declare
  v_count bigint := 0;
  v_deleted bigint;
  v_last bigint;
begin
  ${OPEN('sweep')}
  for v_at in 1 .. cardinality(p_chains) loop
    exit when v_count >= p_limit;
    -- To a bound, not by a list: without hash joins that would compare each entry with each.
    select max(x.seq) into v_last from (
      select y.seq from audit_entries y
      where y.organization_id = p_organization and y.chain = p_chains[v_at] and y.seq <= p_last_seqs[v_at]
      order by y.seq limit p_limit - v_count) x;
    delete from audit_entries e where e.organization_id = p_organization and e.chain = p_chains[v_at] and e.seq <= v_last;
    get diagnostics v_deleted = row_count;
    v_count := v_count + v_deleted;
  end loop;
  ${SHUT}
  return v_count;
end $$`;

/**
 * Deletes, of the next so many (user, entry) pairs behind the given one, those whose entry has been swept. Answers the last pair
 * it looked at, and no row when there are none left: an index by entry, to find them sooner, would cost every append.
 */
const SWEEP_SUBJECTS_V1 = `
create function sweep_subjects_v1(p_organization text, p_after_user text, p_after_entry text, p_limit integer)
returns table (last_user text, last_entry text) language plpgsql volatile ${BY_KEY_ONLY} as $$
declare
  v_users text[];
  v_entries text[];
begin
  select array_agg(page.user_id), array_agg(page.entry_id) into v_users, v_entries from (
    select distinct s.user_id, s.entry_id from audit_subjects s
    where s.organization_id = p_organization and (s.user_id, s.entry_id) > (p_after_user, p_after_entry)
    order by s.user_id, s.entry_id limit p_limit) page;
  if v_users is null then return; end if;
  ${OPEN('sweep')}
  delete from audit_subjects s using unnest(v_users, v_entries) as looked(user_id, entry_id)
  where s.organization_id = p_organization and s.user_id = looked.user_id and s.entry_id = looked.entry_id
    and not exists (select from audit_entries e where e.organization_id = p_organization and e.id = looked.entry_id);
  ${SHUT}
  return query select v_users[cardinality(v_users)], v_entries[cardinality(v_entries)];
end $$`;
