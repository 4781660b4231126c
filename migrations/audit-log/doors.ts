import { BY_KEY_ONLY } from '../shared/by-key-only.js';

/**
 * Why: an erasure blanks disclosures and a sweep deletes what it has archived, and nothing else may change the log. Each does so
 * through a function of its own, which the triggers (`guards.ts`) let pass by the setting `countersign.door` for as long as the function
 * runs, or until it fails: then the setting is rolled back with the rest. A `set` clause instead would need a superuser.
 */
const OPEN = (door: 'erasure' | 'sweep') => `perform set_config('countersign.door', '${door}', true);`;
const SHUT = `perform set_config('countersign.door', '', true);`;

/**
 * Gives entries, by their ids, new disclosures: each where they still are what the caller has read (compare and set). Answers how
 * many it changed; the caller, which has recorded what it erases, takes anything but all of them for a reason to start over.
 */
const ERASE_DISCLOSURES = `
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
const SWEEP_ENTRIES = `
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
const SWEEP_SUBJECTS = `
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

export const DELETING_AND_BLANKING = [ERASE_DISCLOSURES, SWEEP_ENTRIES, SWEEP_SUBJECTS];
