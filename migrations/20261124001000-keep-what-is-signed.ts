import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why: heads and trees only go forward, and of what is signed the rows stay where they are: a server replaces their notes, thins out
 * checkpoints and takes back keys, and does nothing else to them. Conditions stand in the triggers, so that no function is called for
 * a row that may change; appending pays for a comparison of each head.
 */
export class KeepWhatIsSigned20261124001000 implements MigrationInterface {
  name = 'KeepWhatIsSigned20261124001000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(STAYS_WITH_ITS_ENTRY_V1);
    for (const [name, table, when] of TRIGGERS) await runner.query(`create trigger ${name} ${when.replace('{}', table)}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [name, table] of TRIGGERS) await runner.query(`drop trigger ${name} on ${table}`);
    await runner.query('drop function audit_note_stays_with_its_entry_v1');
  }
}

/** What a sweep has archived it takes the notes of, behind its entries. */
const STAYS_WITH_ITS_ENTRY_V1 = `
create function audit_note_stays_with_its_entry_v1() returns trigger language plpgsql as $$
begin
  perform from audit_entries e where e.organization_id = old.organization_id and e.id = old.entry_id;
  if not found then return old; end if;
  raise exception '% is append-only: delete is refused', tg_table_name using errcode = 'CS002';
end $$`;

const REFUSED = 'execute function audit_is_append_only_v1()';

/** Behind the change: the row's lock is not taken once more for it. */
const changed = (columns: string) => `after update on {} for each row when ((${each('old', columns)}) is distinct from
  (${each('new', columns)})) ${REFUSED}`;

function each(row: 'old' | 'new', columns: string): string {
  return columns.split(', ').map((column) => `${row}.${column}`).join(', ');
}

const TRIGGERS: readonly (readonly [name: string, table: string, when: string])[] = [
  // Position and hash change together, or neither does. Whoever changes other columns of a head pays nothing.
  ['audit_heads_go_forward', 'audit_heads', `after update of seq, hash on {} for each row when (new.seq < old.seq
    or (new.seq > old.seq) <> (new.hash is distinct from old.hash)) ${REFUSED}`],
  ['audit_heads_keep', 'audit_heads', `before update of organization_id, chain on {} for each statement ${REFUSED}`],
  ['audit_trees_go_forward', 'audit_trees', `after update on {} for each row when (new.size <= old.size or new.root = old.root
    or new.organization_id <> old.organization_id) ${REFUSED}`],
  ['audit_checkpoints_keep', 'audit_checkpoints', changed('organization_id, size')],
  ['audit_signing_keys_keep', 'audit_signing_keys', changed('key_id, verifier_key, from_size, note')],
  ['audit_erasure_notes_keep', 'audit_erasure_notes', changed('organization_id, entry_id')],
  ['audit_erasure_notes_stay', 'audit_erasure_notes',
    'before delete on {} for each row execute function audit_note_stays_with_its_entry_v1()'],
  ['audit_sweeps_keep', 'audit_sweeps', `after update on {} for each row when (old.state in ('recorded', 'done') and (
    new.state not in ('recorded', 'done') or (old.state = 'done' and new.state <> 'done')
    or (${each('old', 'organization_id, id, before, skeleton, disclosures, entry_id, made_at')}) is distinct from
       (${each('new', 'organization_id, id, before, skeleton, disclosures, entry_id, made_at')})
    or old.cuts::text <> new.cuts::text or old.checkpoint::text <> new.checkpoint::text)) ${REFUSED}`],
  ['audit_sweeps_stay', 'audit_sweeps',
    `before delete on {} for each row when (old.state in ('recorded', 'done')) ${REFUSED}`],
  ['audit_anchors_stay', 'audit_anchors', `before delete on {} for each statement ${REFUSED}`],
  ...['audit_checkpoints', 'audit_signing_keys', 'audit_erasure_notes', 'audit_sweeps', 'audit_anchors', 'audit_map_nodes'].map(
    (table) => [`${table}_are_not_emptied`, table, `before truncate on {} for each statement ${REFUSED}`] as const),
];
