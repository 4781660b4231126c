import { BY_KEY_ONLY } from '../shared/by-key-only.js';

/** What waits for a node with a credential of epoch `p.epoch`: of executions that run, and of the beginning that they are at. */
const WAITING = `node_work w
      join executions e on e.organization_id = w.organization_id and e.id = w.execution_id and e.status = 'running'
        and e.fence = w.execution_fence
      where w.organization_id = p.organization_id and w.agent_id = p.agent_id and w.deadline > clock_timestamp()
        and (w.status = 'queued' or w.status = 'leased' and (w.lease_until <= clock_timestamp() or w.epoch is distinct from p.epoch))`;

/**
 * Why: nodes poll all the time, and a statement for each of them is most of what work by a node costs. Polls of different agents in one
 * call: says that nodes are there, where asked to, and leases to each the oldest work that waits and that its credential holds. It waits
 * for no lock of anybody.
 *
 * p_held: names that spaces part, of what the credential holds; null: everything. p_seconds: how long a lease lasts. p_seen_for: for so
 * many seconds it need not be said again that a node is there
 * Answers rows by the number n of their poll. `lease`; `withheld`: nothing waits but work of this capability, which is not held; `busy`:
 * somebody has the agent's row, so that it could not be said that its node is there; `gone`: there is no such agent. None: nothing waits.
 */
export const NODE_POLL = `
create function node_poll_v1(
  p_organizations text[], p_agents text[], p_epochs bigint[], p_held text[], p_seen boolean[], p_seconds integer, p_seen_for integer
) returns table (
  n integer, kind text, execution_id text, capability text, fence integer, deadline timestamptz, lease_until timestamptz
) language plpgsql volatile ${BY_KEY_ONLY} as $$
#variable_conflict use_column
declare
  v_due integer[];
  v_free integer[];
  v_leases json;
  v_leased integer[];
begin
  select coalesce(array_agg(p.n::integer), '{}') into v_due
  from unnest(p_organizations, p_agents, p_seen) with ordinality as p(organization_id, agent_id, seen, n)
  where p.seen and not exists (select from agents a where a.organization_id = p.organization_id and a.id = p.agent_id
    and a.node_last_seen > clock_timestamp() - make_interval(secs => p_seen_for));
  select coalesce(array_agg(p.n::integer), '{}') into v_free
  from unnest(p_organizations, p_agents) with ordinality as p(organization_id, agent_id, n)
  cross join lateral (select from agents a where a.organization_id = p.organization_id and a.id = p.agent_id
                      for no key update skip locked) held
  where p.n = any (v_due);
  update agents a set node_last_seen = clock_timestamp()
  from unnest(p_organizations, p_agents) with ordinality as p(organization_id, agent_id, n)
  where p.n = any (v_free) and a.organization_id = p.organization_id and a.id = p.agent_id;

  with next as (
    select p.n, p.epoch, w.organization_id, w.execution_id, w.capability
    from unnest(p_organizations, p_agents, p_epochs, p_held) with ordinality as p(organization_id, agent_id, epoch, held, n)
    cross join lateral (
      select w.organization_id, w.execution_id, e.capability from ${WAITING}
        and (p.held is null or e.capability = any (string_to_array(p.held, ' ')))
      order by w.queued_at, w.execution_id limit 1 for update of w skip locked) w),
  leased as (
    update node_work w
    set status = 'leased', fence = w.fence + 1, epoch = next.epoch, lease_until = clock_timestamp() + make_interval(secs => p_seconds),
      started_at = null
    from next where w.organization_id = next.organization_id and w.execution_id = next.execution_id
    returning next.n, w.execution_id, next.capability, w.fence, w.deadline, w.lease_until)
  select json_agg(leased), coalesce(array_agg(leased.n::integer), '{}') into v_leases, v_leased from leased;

  -- Nobody waits for a disk so that nodes are known to be there: after a crash of the database they are as fresh as by their polls before.
  if v_leased = '{}' then perform set_config('synchronous_commit', 'off', true); end if;

  return query
  select l.n, 'lease', l.execution_id, l.capability, l.fence, l.deadline, l.lease_until
  from json_to_recordset(v_leases) as l(n integer, execution_id text, capability text, fence integer, deadline timestamptz,
         lease_until timestamptz)
  union all
  select p.n::integer, 'withheld', null, w.capability, null, null, null
  from unnest(p_organizations, p_agents, p_epochs, p_held) with ordinality as p(organization_id, agent_id, epoch, held, n)
  cross join lateral (
    select e.capability from ${WAITING} and not e.capability = any (string_to_array(p.held, ' ')) limit 1) w
  where p.held is not null and not p.n = any (v_leased)
  union all
  select p.n::integer, case when exists (select from agents a where a.organization_id = p.organization_id and a.id = p.agent_id)
    then 'busy' else 'gone' end, null, null, null, null, null
  from unnest(p_organizations, p_agents) with ordinality as p(organization_id, agent_id, n)
  where p.n = any (v_due) and not p.n = any (v_free) and not p.n = any (v_leased);
end $$`;
