/**
 * Why: what is written stays as it was written. Triggers refuse every change of the log but two: an erasure blanks disclosures, a
 * sweep deletes what it has archived, each through a function of its own (`doors.ts`). Heads and trees only go forward; of signed
 * rows, a server replaces notes, thins out checkpoints and takes back keys, and does nothing else. Triggers stop accidents and this
 * program; a superuser and the owner of the tables pass them, and are found by verification. No trigger fires on INSERT, and conditions
 * are in the triggers, so that no function is called for a row that may change: appending pays for a comparison of each head.
 */
const REFUSED = 'execute function audit_is_append_only_v1';

/** The trigger's argument is the setting under which a change passes; without an argument none does. */
const IS_APPEND_ONLY = `
create function audit_is_append_only_v1() returns trigger language plpgsql as $$
begin
  if tg_nargs > 0 and current_setting('countersign.door', true) = tg_argv[0] then return null; end if;
  raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op) using errcode = 'CS002';
end $$`;

const KEEPS_ALL_BUT_DISCLOSURES = `
create function audit_keeps_all_but_disclosures_v1() returns trigger language plpgsql as $$
declare
  v_wanted audit_entries := old;
begin
  v_wanted.disclosures := new.disclosures;
  if current_setting('countersign.door', true) = 'erasure' and new is not distinct from v_wanted then return new; end if;
  raise exception '% is append-only: update is refused', tg_table_name using errcode = 'CS002';
end $$`;

/** The notes of what a sweep has archived go with the sweep, behind the entries. */
const STAYS_WITH_ITS_ENTRY = `
create function audit_note_stays_with_its_entry_v1() returns trigger language plpgsql as $$
begin
  perform from audit_entries e where e.organization_id = old.organization_id and e.id = old.entry_id;
  if not found then return old; end if;
  raise exception '% is append-only: delete is refused', tg_table_name using errcode = 'CS002';
end $$`;

const OF_ENTRIES = [
  `create trigger audit_entries_keep before update on audit_entries
     for each row execute function audit_keeps_all_but_disclosures_v1()`,
  refused('audit_entries_stay', 'audit_entries', 'delete', `'sweep'`),
  refused('audit_entries_are_not_emptied', 'audit_entries', 'truncate'),
  refused('audit_subjects_stay', 'audit_subjects', 'delete', `'sweep'`),
  refused('audit_subjects_keep', 'audit_subjects', 'update or truncate'),
];

const OF_HEADS_AND_TREES = [
  // A chain that was swept whole goes on from its head, however old.
  refused('audit_heads_stay', 'audit_heads', 'delete or truncate'),
  refused('audit_heads_keep', 'audit_heads', 'update of organization_id, chain'),
  // Position and hash change together, or neither does. An update of other columns of a head pays nothing.
  `create trigger audit_heads_go_forward after update of seq, hash on audit_heads for each row
     when (new.seq < old.seq or (new.seq > old.seq) <> (new.hash is distinct from old.hash)) ${REFUSED}()`,
  refused('audit_trees_stay', 'audit_trees', 'delete or truncate'),
  `create trigger audit_trees_go_forward after update on audit_trees for each row
     when (new.size <= old.size or new.root = old.root or new.organization_id <> old.organization_id) ${REFUSED}()`,
  // Leaves leave the queue for their tree; they do not change on the way.
  refused('audit_tree_queue_keeps', 'audit_tree_queue', 'update or truncate'),
  ...['audit_tree_leaves', 'audit_tree_tiles', 'audit_platform_leaves']
    .map((table) => refused(`${table}_stay`, table, 'update or delete or truncate')),
];

const OF_WHAT_IS_SIGNED = [
  unchanged('audit_checkpoints', 'organization_id, size'),
  unchanged('audit_signing_keys', 'key_id, verifier_key, from_size, note'),
  unchanged('audit_erasure_notes', 'organization_id, entry_id'),
  `create trigger audit_erasure_notes_stay before delete on audit_erasure_notes
     for each row execute function audit_note_stays_with_its_entry_v1()`,
  `create trigger audit_sweeps_keep after update on audit_sweeps for each row when (old.state in ('recorded', 'done') and (
     new.state not in ('recorded', 'done') or (old.state = 'done' and new.state <> 'done')
     or ${differ('organization_id, id, before, skeleton, disclosures, entry_id, made_at')}
     or old.cuts::text <> new.cuts::text or old.checkpoint::text <> new.checkpoint::text)) ${REFUSED}()`,
  `create trigger audit_sweeps_stay before delete on audit_sweeps for each row when (old.state in ('recorded', 'done')) ${REFUSED}()`,
  refused('audit_anchors_stay', 'audit_anchors', 'delete'),
  ...['audit_checkpoints', 'audit_signing_keys', 'audit_erasure_notes', 'audit_sweeps', 'audit_anchors', 'audit_map_nodes']
    .map((table) => refused(`${table}_are_not_emptied`, table, 'truncate')),
];

function refused(name: string, table: string, operations: string, door = ''): string {
  return `create trigger ${name} before ${operations} on ${table} for each statement ${REFUSED}(${door})`;
}

/** Behind the change: the row's lock is not taken once more for the comparison. */
function unchanged(table: string, columns: string): string {
  return `create trigger ${table}_keep after update on ${table} for each row when (${differ(columns)}) ${REFUSED}()`;
}

function differ(columns: string): string {
  const of = (row: 'old' | 'new') => columns.split(', ').map((column) => `${row}.${column}`).join(', ');
  return `(${of('old')}) is distinct from (${of('new')})`;
}

export const GUARDS = [
  IS_APPEND_ONLY, KEEPS_ALL_BUT_DISCLOSURES, STAYS_WITH_ITS_ENTRY, ...OF_ENTRIES, ...OF_HEADS_AND_TREES, ...OF_WHAT_IS_SIGNED,
];
