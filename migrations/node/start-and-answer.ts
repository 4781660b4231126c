import { BY_KEY_ONLY } from '../shared/by-key-only.js';

/**
 * Why: work begins in batches, as calls do at the gate. Each was judged over facts that were read without locks, and begins only where
 * these are still the present ones. As in gate_commit_v1: barrier → heads, sorted → compare → write: each a statement of its own.
 *
 * p_organizations, p_agents: of each item, in the order of their numbers from 1
 * p_items: [{n, executionId, fence, epoch, revision, organizationRevision, validUntil?}]
 * Answers one result per item: ok; busy (head or barrier is locked); stale (the facts are others now); lost (the lease does not hold).
 */
export const NODE_START = `
create function node_start_v1(p_organizations text[], p_agents text[], p_items json)
returns text[] language plpgsql volatile ${BY_KEY_ONLY} as $$
declare
  v_open_organizations text[];
  v_locked integer[];
  v_results text[];
  v_started integer[];
begin
  select array_agg(o.id) into v_open_organizations
  from (select distinct u.id from unnest(p_organizations) as u(id) order by 1) o
  where pg_try_advisory_xact_lock_shared(organization_barrier_v1(o.id));

  select coalesce(array_agg(i.n::integer), '{}') into v_locked
  from (select * from unnest(p_organizations, p_agents) with ordinality as u(organization_id, agent_id, n)
        where u.organization_id = any (v_open_organizations) order by u.organization_id, u.agent_id) i
  cross join lateral (select from audit_heads h where h.organization_id = i.organization_id and h.chain = i.agent_id
                      for update skip locked) held;

  select array_agg(case
      when not x.n = any (v_locked) then 'busy'
      when h.revision is distinct from x.revision or h.closed_at is not null or o.revision is distinct from x."organizationRevision"
        or clock_timestamp() >= x."validUntil" then 'stale'
      else 'ok' end order by x.n)
  into v_results
  from json_to_recordset(p_items) as x(n integer, revision bigint, "organizationRevision" bigint, "validUntil" timestamptz)
  left join audit_heads h on h.organization_id = p_organizations[x.n] and h.chain = p_agents[x.n]
  left join organizations o on o.id = p_organizations[x.n];

  with started as (
    update node_work w set status = 'started', started_at = clock_timestamp()
    from json_to_recordset(p_items) as x(n integer, "executionId" text, fence integer, epoch bigint)
    where v_results[x.n] = 'ok' and w.organization_id = p_organizations[x.n] and w.execution_id = x."executionId"
      and w.agent_id = p_agents[x.n] and w.status = 'leased' and w.fence = x.fence and w.epoch = x.epoch
      and w.lease_until > clock_timestamp() and w.deadline > clock_timestamp()
      and exists (select from executions e where e.organization_id = w.organization_id and e.id = w.execution_id
        and e.status = 'running' and e.fence = w.execution_fence)
    returning x.n)
  select coalesce(array_agg(started.n), '{}') into v_started from started;

  return (select array_agg(case when r.result = 'ok' and not r.n = any (v_started) then 'lost' else r.result end order by r.n)
          from unnest(v_results) with ordinality as r(result, n));
end $$`;

/**
 * Why: results close their executions in the batches of the gate, and are taken in the same commit. Where one of them cannot be taken,
 * since its lease or its credential does not hold any more, none is (CS003): each is tried alone then.
 *
 * p_works: [{n, organization_id, agent_id, execution_id, fence, epoch, key_id, answer}]; the rest and the results are as in gate_close_v1
 */
export const NODE_ANSWER = `
create function node_answer_v1(
  p_works json, p_closings json, p_effects json, p_entry_items integer[],
  p_organizations text[], p_chains text[], p_ids text[], p_events text[], p_agents text[], p_actors text[],
  p_capabilities text[], p_outcomes text[], p_timestamps text[], p_payloads text[], p_disclosures text[]
) returns text[] language plpgsql volatile ${BY_KEY_ONLY} as $$
declare
  v_results text[];
  v_taken integer;
begin
  v_results := gate_close_v1(p_closings, p_effects, p_entry_items, p_organizations, p_chains, p_ids, p_events, p_agents, p_actors,
    p_capabilities, p_outcomes, p_timestamps, p_payloads, p_disclosures);
  update node_work w set status = 'answered', ended_at = clock_timestamp(), answer = x.answer
  from json_to_recordset(p_works) as x(n integer, organization_id text, agent_id text, execution_id text, fence integer, epoch bigint,
         key_id text, answer text)
  where v_results[x.n] = 'ok' and w.organization_id = x.organization_id and w.execution_id = x.execution_id and w.agent_id = x.agent_id
    and w.status = 'started' and w.fence = x.fence
    and exists (select from agents a where a.organization_id = x.organization_id and a.id = x.agent_id and a.status = 'active'
      and a.epoch = x.epoch)
    and (x.key_id is null or exists (select from agent_keys k where k.organization_id = x.organization_id and k.id = x.key_id
      and k.agent_id = x.agent_id));
  get diagnostics v_taken = row_count;
  perform assert_true_v1(v_taken = cardinality(array_positions(v_results, 'ok')));
  return v_results;
end $$`;
