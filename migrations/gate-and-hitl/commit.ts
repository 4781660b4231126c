import { BY_KEY_ONLY } from '../shared/by-key-only.js';

/**
 * Why: calls are decided in batches, each over what it has read, and count only while that still holds. What shares a limit was decided
 * in order, each call over what those before it leave: one that does not count takes those behind it along.
 */
export const STALE_BEHIND = `
create function stale_behind_v1(p_results text[], p_usage json) returns text[] language plpgsql immutable as $$
declare
  counted record;
  v_broken text[] := '{}';
begin
  for counted in
    select x.item, array_agg(x."grantId") as grants from json_to_recordset(p_usage) as x(item integer, "grantId" text)
    group by x.item order by x.item
  loop
    if p_results[counted.item] = 'ok' and not counted.grants && v_broken then continue; end if;
    v_broken := v_broken || counted.grants;
    if p_results[counted.item] = 'ok' then p_results[counted.item] := 'stale'; end if;
  end loop;
  return p_results;
end $$`;

/**
 * Commits a batch of decided calls. Its statements run in this order, each with a snapshot of its own: barrier (shared, only tried) →
 * heads, sorted → usage rows, sorted → compare what the decisions rested on → claim idempotency keys → write. Locking and comparing
 * are never one statement: as one, the comparison reads from before the wait, and a grant revoked meanwhile still counts as active.
 *
 * p_item_organizations, p_item_agents: whose call each item is, in the order of their numbers from 1
 * p_items: [{n, revision, organizationRevision, rootKeyHash?, validUntil?, deadline, opens, cap}]
 * p_keys: [{item, organizationId, scope, fingerprint, executionId}]
 * p_requests: [{item, and every column of hitl_requests that is not null}]
 * p_usage: [{item, organizationId, grantId, revision}] of items whose grants have limits: the usage they were decided over
 * p_links: [{item, organizationId, agentId, revision}] of a task's call: the other agents of its chain, as they were when it was decided
 * p_tasks: [{item, organizationId, id, executionId, ancestors}] the task that the item takes, and the tasks that it is part of
 * p_uses: [{item, organizationId, grantId, executionId, waiting, measure, amount}] what each of these adds
 * Answers one commit result per item: ok; busy (a head, barrier or usage row is locked; try again); stale (decide again);
 * late (past its deadline).
 */
export const GATE_COMMIT = `
create function gate_commit_v1(
  p_item_organizations text[], p_item_agents text[], p_items json, p_keys json, p_executions json, p_requests json, p_effects json,
  p_usage json, p_uses json, p_links json, p_tasks json,
  p_entry_items integer[],
  p_organizations text[], p_chains text[], p_ids text[], p_events text[], p_agents text[], p_actors text[],
  p_capabilities text[], p_outcomes text[], p_timestamps text[], p_payloads text[], p_disclosures text[],
  p_subject_items integer[], p_subject_organizations text[], p_subject_users text[], p_subject_entries text[], p_subject_pointers text[]
) returns text[] language plpgsql volatile ${BY_KEY_ONLY} set lock_timeout = '1s' as $$
declare
  k record;
  v_results text[];
  v_open_organizations text[];
  v_locked integer[];
  v_counted text[];
  v_linked text[];
  v_all_ok boolean;
begin
  select array_agg(o.id) into v_open_organizations
  from (select distinct u.id from unnest(p_item_organizations) as u(id) order by 1) o
  where pg_try_advisory_xact_lock_shared(organization_barrier_v1(o.id));

  select coalesce(array_agg(i.n::integer), '{}') into v_locked
  from (select * from unnest(p_item_organizations, p_item_agents) with ordinality as u(organization_id, agent_id, n)
        where u.organization_id = any (v_open_organizations) order by u.organization_id, u.agent_id) i
  cross join lateral (select from audit_heads h where h.organization_id = i.organization_id and h.chain = i.agent_id
                      for update skip locked) held;

  if json_array_length(p_links) > 0 then
    select coalesce(array_agg(l.organization_id || ' ' || l.agent_id), '{}') into v_linked
    from (select distinct x."organizationId" as organization_id, x."agentId" as agent_id
          from json_to_recordset(p_links) as x("organizationId" text, "agentId" text) order by 1, 2) l
    cross join lateral (select from audit_heads h where h.organization_id = l.organization_id and h.chain = l.agent_id
                        for update skip locked) held;
  end if;

  if json_array_length(p_usage) > 0 then
    select coalesce(array_agg(g.grant_id), '{}') into v_counted
    from (select distinct x."organizationId" as organization_id, x."grantId" as grant_id
          from json_to_recordset(p_usage) as x("organizationId" text, "grantId" text) order by 1, 2) g
    cross join lateral (select from grant_usage w where w.organization_id = g.organization_id and w.grant_id = g.grant_id
                        for update skip locked) held;
  end if;

  -- An item counts the requests that those before it open, whether or not these hold.
  select array_agg(case
      when clock_timestamp() >= c.deadline then 'late'
      when not c.n = any (v_locked) or c.is_uncounted then 'busy'
      when c.head_revision is distinct from c.revision or c.closed_at is not null
        or c.shared_revision is distinct from c."organizationRevision"
        or (c."rootKeyHash" is not null and c."rootKeyHash" is distinct from c.root_key_hash)
        or clock_timestamp() >= c."validUntil"
        or c.is_counted_anew
        or (c.opens > 0 and c.open_requests + c.opens_so_far > c.cap) then 'stale'
      else 'ok' end order by c.n)
  into v_results
  from (select x.*, h.revision as head_revision, h.closed_at, h.open_requests, o.revision as shared_revision,
               (select root_key_hash from instance) as root_key_hash,
               sum(x.opens) over (partition by p_item_agents[x.n] order by x.n) as opens_so_far,
               g.is_uncounted, g.is_counted_anew
        from json_to_recordset(p_items) as x(n integer, revision bigint, "organizationRevision" bigint, "rootKeyHash" text,
               "validUntil" timestamptz, deadline timestamptz, opens integer, cap integer)
        left join audit_heads h on h.organization_id = p_item_organizations[x.n] and h.chain = p_item_agents[x.n]
        left join organizations o on o.id = p_item_organizations[x.n]
        left join (
          select u.item, bool_or(not u."grantId" = any (v_counted)) as is_uncounted,
            bool_or(w.revision is distinct from u.revision) as is_counted_anew
          from json_to_recordset(p_usage) as u(item integer, "grantId" text, revision bigint)
          left join grant_usage w on w.organization_id = p_item_organizations[u.item] and w.grant_id = u."grantId"
          group by u.item) g on g.item = x.n) c;

  if json_array_length(p_links) > 0 then
    select array_agg(case when r.result <> 'ok' then r.result when l.is_busy then 'busy' when l.is_stale then 'stale' else 'ok' end
      order by r.n)
    into v_results
    from unnest(v_results) with ordinality as r(result, n)
    left join (
      select x.item, bool_or(h.chain is not null and not h.organization_id || ' ' || h.chain = any (v_linked)) as is_busy,
        bool_or(h.revision is distinct from x.revision) as is_stale
      from json_to_recordset(p_links) as x(item integer, "organizationId" text, "agentId" text, revision bigint)
      left join audit_heads h on h.organization_id = x."organizationId" and h.chain = x."agentId" and h.closed_at is null
      group by x.item) l on l.item = r.n;
  end if;

  -- A task is taken once: by the first item that would, whether or not that one holds.
  if json_array_length(p_tasks) > 0 then
    select array_agg(case when r.result = 'ok' and t.is_stale then 'stale' else r.result end order by r.n) into v_results
    from unnest(v_results) with ordinality as r(result, n)
    left join (
      select x.item, given.status is distinct from 'assigned' or has_ended_task_v1(x."organizationId", x.ancestors)
          or row_number() over (partition by x.id order by x.item) > 1 as is_stale
      from json_to_recordset(p_tasks) as x(item integer, "organizationId" text, id text, ancestors text[])
      left join tasks given on given.organization_id = x."organizationId" and given.id = x.id) t on t.item = r.n;
  end if;

  v_results := stale_behind_v1(v_results, p_usage);

  for k in
    select * from json_to_recordset(p_keys) as x(item integer, "organizationId" text, scope text, fingerprint text, "executionId" text)
    where v_results[x.item] = 'ok' order by x."organizationId", x.scope
  loop
    insert into idempotency_keys (organization_id, scope, fingerprint, execution_id)
    values (k."organizationId", k.scope, k.fingerprint, k."executionId") on conflict do nothing;
    if not found then v_results[k.item] := 'stale'; end if;
  end loop;
  if json_array_length(p_keys) > 0 and json_array_length(p_usage) > 0 then
    v_results := stale_behind_v1(v_results, p_usage);
    delete from idempotency_keys i
    using json_to_recordset(p_keys) as x(item integer, "organizationId" text, scope text, "executionId" text)
    where v_results[x.item] <> 'ok' and i.organization_id = x."organizationId" and i.scope = x.scope and i.execution_id = x."executionId";
  end if;

  if not 'ok' = any (v_results) then return v_results; end if;
  v_all_ok := 'ok' = all (v_results);

  insert into executions (organization_id, id, agent_id, capability, action, status, effective_mode, flagged, runtime, input, context,
                          reasons, definition, grant_id, grant_version, hitl_request_id, requested_by, reason, audit_id, traceparent,
                          created_at, started_at, closed_at, duration_ms, fence, task_id, task_chain, lease_until)
  select e.organization_id, e.id, e.agent_id, e.capability, e.action, e.status, e.effective_mode, e.flagged, e.runtime, e.input, e.context,
         e.reasons, e.definition, e.grant_id, e.grant_version, e.hitl_request_id, e.requested_by, e.reason, e.audit_id, e.traceparent,
         e.created_at, e.started_at, e.closed_at, e.duration_ms, coalesce(e.fence, 0), e.task_id, e.task_chain,
         clock_timestamp() + make_interval(secs => e.lease_seconds)
  from json_to_recordset(p_executions) as e(item integer, organization_id text, id text, agent_id text, capability text, action text,
         status text, effective_mode text, flagged boolean, runtime text, input text, context text, reasons json, definition text,
         grant_id text, grant_version integer, hitl_request_id text, requested_by text, reason text, audit_id text, traceparent text,
         created_at timestamptz, started_at timestamptz, closed_at timestamptz, duration_ms integer, fence integer,
         task_id text, task_chain text[],
         lease_seconds double precision)
  where v_all_ok or v_results[e.item] = 'ok';

  if json_array_length(p_requests) > 0 then
    insert into hitl_requests
    select q.* from json_array_elements(p_requests) as r(content)
    cross join lateral json_populate_record(null::hitl_requests, r.content) as q
    where v_results[(r.content ->> 'item')::integer] = 'ok';
    update audit_heads h set open_requests = h.open_requests + opened.count
    from (select q.organization_id, q.agent_id, count(*)::integer as count
          from json_to_recordset(p_requests) as q(item integer, organization_id text, agent_id text)
          where v_results[q.item] = 'ok' group by 1, 2) opened
    where h.organization_id = opened.organization_id and h.chain = opened.agent_id;
  end if;

  if json_array_length(p_uses) > 0 then
    insert into grant_uses (organization_id, grant_id, measure, execution_id, amount, waiting)
    select x."organizationId", x."grantId", x.measure, x."executionId", x.amount, x.waiting
    from json_to_recordset(p_uses)
           as x(item integer, "organizationId" text, "grantId" text, "executionId" text, measure text, amount numeric, waiting boolean)
    where v_results[x.item] = 'ok';
    insert into grant_totals as t (organization_id, grant_id, measure, amount)
    select x."organizationId", x."grantId", x.measure, sum(x.amount)
    from json_to_recordset(p_uses) as x(item integer, "organizationId" text, "grantId" text, measure text, amount numeric)
    where v_results[x.item] = 'ok' group by 1, 2, 3 order by 1, 2, 3
    on conflict (organization_id, grant_id, measure) do update set amount = t.amount + excluded.amount;
    update grant_usage w set revision = w.revision + 1
    from (select distinct x."organizationId" as organization_id, x."grantId" as grant_id
          from json_to_recordset(p_uses) as x(item integer, "organizationId" text, "grantId" text)
          where v_results[x.item] = 'ok') used
    where w.organization_id = used.organization_id and w.grant_id = used.grant_id;
  end if;

  if json_array_length(p_tasks) > 0 then
    update tasks given set status = 'taken', execution_id = x."executionId"
    from json_to_recordset(p_tasks) as x(item integer, "organizationId" text, id text, "executionId" text)
    where v_results[x.item] = 'ok' and given.organization_id = x."organizationId" and given.id = x.id;
    update audit_heads h set open_tasks = h.open_tasks - taken.count
    from (select x."organizationId" as organization_id, p_item_agents[x.item] as agent_id, count(*)::integer as count
          from json_to_recordset(p_tasks) as x(item integer, "organizationId" text) where v_results[x.item] = 'ok' group by 1, 2) taken
    where h.organization_id = taken.organization_id and h.chain = taken.agent_id;
  end if;

  if json_array_length(p_effects) > 0 then
    insert into outbox (organization_id, kind, payload)
    select f.organization_id, f.kind, f.payload
    from json_to_recordset(p_effects) as f(item integer, organization_id text, kind text, payload json)
    where v_results[f.item] = 'ok';
  end if;

  if v_all_ok then
    perform append_entries_v1(p_organizations, p_chains, p_ids, p_events, p_agents, p_actors, p_capabilities, p_outcomes, p_timestamps,
      p_payloads, p_disclosures, p_subject_organizations, p_subject_users, p_subject_entries, p_subject_pointers);
  else
    perform append_entries_v1(
      array_agg(e.a1 order by e.n), array_agg(e.a2 order by e.n), array_agg(e.a3 order by e.n), array_agg(e.a4 order by e.n),
      array_agg(e.a5 order by e.n), array_agg(e.a6 order by e.n), array_agg(e.a7 order by e.n), array_agg(e.a8 order by e.n),
      array_agg(e.a9 order by e.n), array_agg(e.a10 order by e.n), array_agg(e.a11 order by e.n),
      (select array_agg(s.o) from unnest(p_subject_items, p_subject_organizations) as s(item, o) where v_results[s.item] = 'ok'),
      (select array_agg(s.o) from unnest(p_subject_items, p_subject_users) as s(item, o) where v_results[s.item] = 'ok'),
      (select array_agg(s.o) from unnest(p_subject_items, p_subject_entries) as s(item, o) where v_results[s.item] = 'ok'),
      (select array_agg(s.o) from unnest(p_subject_items, p_subject_pointers) as s(item, o) where v_results[s.item] = 'ok'))
    from unnest(p_entry_items, p_organizations, p_chains, p_ids, p_events, p_agents, p_actors, p_capabilities, p_outcomes, p_timestamps,
                p_payloads, p_disclosures) with ordinality as e(item, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, n)
    where v_results[e.item] = 'ok';
  end if;
  return v_results;
end $$`;
