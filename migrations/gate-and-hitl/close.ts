import { BY_KEY_ONLY } from '../shared/by-key-only.js';

/**
 * Why: running executions are closed in batches after their runtime has answered: a compare-and-set on `running` and the fence, each
 * with its closing entry and the news of it. An execution may have begun more than once; only the newest beginning closes it.
 *
 * p_closings: [{n, organization_id, agent_id, id, fence: of the beginning that is closed, and what the row says of its end}]
 * p_entry_items: of each entry, the n of its closing; the last entry of each is the closing one
 * Results: ok; busy (the head is locked); lost (recovery, usually, closed the execution first or began it again).
 */
export const GATE_CLOSE = `
create function gate_close_v1(
  p_closings json, p_effects json, p_entry_items integer[],
  p_organizations text[], p_chains text[], p_ids text[], p_events text[], p_agents text[], p_actors text[],
  p_capabilities text[], p_outcomes text[], p_timestamps text[], p_payloads text[], p_disclosures text[]
) returns text[] language plpgsql volatile ${BY_KEY_ONLY} as $$
declare
  v_results text[];
  v_locked integer[];
  v_closed integer[];
begin
  select coalesce(array_agg(i.n::integer), '{}') into v_locked
  from (select * from json_to_recordset(p_closings) as u(n integer, organization_id text, agent_id text)
        order by u.organization_id collate "C", u.agent_id collate "C") i
  cross join lateral (select from audit_heads h where h.organization_id = i.organization_id and h.chain = i.agent_id
                      for update skip locked) held;

  with closed as (
    update executions e
    set status = c.status, output = c.output, error = c.error, audit_id = c.audit_id, closed_at = c.closed_at,
        duration_ms = c.duration_ms, runtime = c.runtime, lease_until = null
    from json_to_recordset(p_closings) as c(n integer, organization_id text, id text, fence integer, status text, output text, error json,
           audit_id text, closed_at timestamptz, duration_ms integer, runtime text)
    where e.organization_id = c.organization_id and e.id = c.id and e.status = 'running' and e.fence = c.fence
      and c.n = any (v_locked)
    returning c.n)
  select coalesce(array_agg(closed.n), '{}') into v_closed from closed;

  select array_agg(case when n = any (v_closed) then 'ok' when n = any (v_locked) then 'lost' else 'busy' end order by n)
  into v_results from generate_series(1, json_array_length(p_closings)) as n;

  if v_closed = '{}' then return v_results; end if;
  insert into outbox (organization_id, kind, payload)
  select f.organization_id, f.kind, f.payload
  from json_to_recordset(p_effects) as f(item integer, organization_id text, kind text, payload json)
  where v_results[f.item] = 'ok';
  perform append_entries_v1(
    array_agg(e.a1 order by e.n), array_agg(e.a2 order by e.n), array_agg(e.a3 order by e.n), array_agg(e.a4 order by e.n),
    array_agg(e.a5 order by e.n), array_agg(e.a6 order by e.n), array_agg(e.a7 order by e.n), array_agg(e.a8 order by e.n),
    array_agg(e.a9 order by e.n), array_agg(e.a10 order by e.n), array_agg(e.a11 order by e.n), '{}', '{}', '{}', '{}')
  from unnest(p_organizations, p_chains, p_ids, p_events, p_agents, p_actors, p_capabilities, p_outcomes, p_timestamps,
              p_payloads, p_disclosures) with ordinality as e(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, n)
  where v_results[p_entry_items[e.n]] = 'ok';
  return v_results;
end $$`;
