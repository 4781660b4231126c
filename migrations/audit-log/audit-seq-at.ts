import { BY_KEY_ONLY } from '../shared/by-key-only.js';

/**
 * Why: readers ask for a time, and chains are ordered by position. The position in a chain at which its entries reach a time is found
 * by halving: entries before it are older and those from it on younger, but for what neighbours in a chain differ by (clocks of
 * servers, entries that waited for the chain).
 */
export const AUDIT_SEQ_AT = `
create function audit_seq_at_v1(p_organization text, p_chain text, p_time text) returns bigint
language plpgsql stable ${BY_KEY_ONLY} set enable_bitmapscan = off as $$
declare
  v_low bigint;
  v_high bigint;
  v_seq bigint;
  v_time text;
begin
  select e.seq into v_low from audit_entries e where e.organization_id = p_organization and e.chain = p_chain order by e.seq limit 1;
  select e.seq + 1 into v_high from audit_entries e
  where e.organization_id = p_organization and e.chain = p_chain order by e.seq desc limit 1;
  while v_low < v_high loop
    select e.seq, e."timestamp" into v_seq, v_time from audit_entries e
    where e.organization_id = p_organization and e.chain = p_chain and e.seq >= (v_low + v_high) / 2 order by e.seq limit 1;
    if v_time collate "C" >= p_time collate "C" then v_high := (v_low + v_high) / 2; else v_low := v_seq + 1; end if;
  end loop;
  return v_low;
end $$`;
