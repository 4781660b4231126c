import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why: executions and HITL requests, and the set-based half of the gate. `input` and `context` are the canonical text
 * (RFC 8785): what a person approved is exactly these bytes, and exactly these bytes run.
 */
export class CreateGate20261121000300 implements MigrationInterface {
  name = 'CreateGate20261121000300';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table executions (
        organization_id text collate "C" not null,
        id              text collate "C" not null,
        agent_id        text collate "C" not null,
        capability      text collate "C" not null,
        action          text,
        status          text not null,
        effective_mode  text not null,
        flagged         boolean not null,
        runtime         text not null,
        input           text not null,
        context         text,
        reasons         json not null,
        definition      text not null,
        grant_id        text collate "C",
        grant_version   integer,
        hitl_request_id text collate "C",
        requested_by    text collate "C" not null,
        reason          text,
        output          text,
        error           json,
        audit_id        text collate "C",
        traceparent     text,
        created_at      timestamptz(3) not null,
        started_at      timestamptz(3),
        closed_at       timestamptz(3),
        duration_ms     integer,
        lease_until     timestamptz(3),
        report          json,
        settlement      json,
        primary key (organization_id, id)
      ) with (fillfactor = 85)`);
    await runner.query(`create index executions_of_agent on executions (organization_id, agent_id, id)`);
    await runner.query(`create index executions_running on executions (lease_until) where status = 'running'`);
    await runner.query(`
      create table hitl_requests (
        organization_id   text collate "C" not null,
        id                text collate "C" not null,
        agent_id          text collate "C" not null,
        agent_name        text not null,
        capability        text collate "C" not null,
        action            text,
        hitl_mode         text not null check (hitl_mode in ('propose', 'escalate')),
        status            text not null check (status in ('pending', 'escalated', 'approved', 'rejected', 'timed_out', 'cancelled')),
        runs              text not null check (runs in ('service', 'caller')),
        input             text not null,
        context           text,
        nonce             text not null,
        definition        text not null,
        digest            text not null,
        version           integer not null default 1,
        flagged           boolean not null,
        reasons           json not null,
        grant_id          text collate "C" not null,
        execution_id      text collate "C" not null,
        created_by        text collate "C" not null,
        created_at        timestamptz(3) not null,
        expires_at        timestamptz(3) not null,
        timeout_seconds   integer not null,
        timeout_action    text not null,
        escalation_level  integer not null check (escalation_level between 0 and 2),
        escalated_to      text collate "C",
        escalated_at      timestamptz(3),
        escalation_reason text,
        decision_outcome  text,
        decision_by       text,
        decided_by        text collate "C",
        decided_at        timestamptz(3),
        note              text,
        decision_entry_id text collate "C",
        primary key (organization_id, id)
      ) with (fillfactor = 85)`);
    await runner.query(`create index hitl_requests_of_agent on hitl_requests (organization_id, agent_id, id)`);
    await runner.query(`create index hitl_requests_by_status on hitl_requests (organization_id, status, id)`);
    await runner.query(`create index hitl_requests_due on hitl_requests (expires_at) where status in ('pending', 'escalated')`);
    await runner.query(ORGANIZATION_BARRIER_V1);
    await runner.query(GATE_COMMIT_V1);
    await runner.query(GATE_CLOSE_V1);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop function gate_close_v1, gate_commit_v1, organization_barrier_v1`);
    await runner.query(`drop table hitl_requests, executions`);
  }
}

/** The advisory lock that orders what the agents of an organization share. One definition, used by every side of it. */
const ORGANIZATION_BARRIER_V1 = `
create function organization_barrier_v1(p_organization text) returns bigint language sql immutable parallel safe
as $$ select hashtextextended(p_organization, 4711) $$`;

/**
 * Rows are looked up by their keys here, and in no other way: a plan that was cached while a table was young and small would
 * otherwise go on reading all of it.
 */
const BY_KEY_ONLY = `set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off`;

/**
 * Commits a batch of decided calls. Its statements run in this order, each with a snapshot of its own: barrier
 * (shared, only tried) → heads, sorted → compare what the decisions rested on → claim idempotency keys → write.
 * Locking and comparing are never one statement: as one, the comparison reads from before the wait, and a grant
 * revoked meanwhile still counts as active.
 *
 * p_item_organizations, p_item_agents: whose call each item is, in the order of their numbers from 1
 * p_items: [{n, revision, organizationRevision, rootKeyHash?, validUntil?, deadline, opens, cap}]
 * p_keys: [{item, organizationId, scope, fingerprint, executionId}]
 * Answers one verdict per item: ok; busy (a head or barrier is held; try again); stale (decide again); late (past its deadline).
 */
const GATE_COMMIT_V1 = `
create function gate_commit_v1(
  p_item_organizations text[], p_item_agents text[], p_items json, p_keys json, p_executions json, p_requests json, p_effects json,
  p_entry_items integer[],
  p_organizations text[], p_chains text[], p_ids text[], p_events text[], p_agents text[], p_actors text[],
  p_capabilities text[], p_outcomes text[], p_timestamps text[], p_payloads text[], p_disclosures text[],
  p_subject_items integer[], p_subject_organizations text[], p_subject_users text[], p_subject_entries text[], p_subject_pointers text[]
) returns text[] language plpgsql volatile ${BY_KEY_ONLY} as $$
declare
  k record;
  v_verdicts text[];
  v_open_organizations text[];
  v_locked integer[];
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

  -- An item counts the requests that those before it open, whether or not these hold.
  select array_agg(case
      when clock_timestamp() >= c.deadline then 'late'
      when not c.n = any (v_locked) then 'busy'
      when c.head_revision is distinct from c.revision or c.closed_at is not null
        or c.shared_revision is distinct from c."organizationRevision"
        or (c."rootKeyHash" is not null and c."rootKeyHash" is distinct from c.root_key_hash)
        or clock_timestamp() >= c."validUntil"
        or (c.opens > 0 and c.open_requests + c.opens_so_far > c.cap) then 'stale'
      else 'ok' end order by c.n)
  into v_verdicts
  from (select x.*, h.revision as head_revision, h.closed_at, h.open_requests, o.revision as shared_revision,
               (select root_key_hash from instance) as root_key_hash,
               sum(x.opens) over (partition by p_item_agents[x.n] order by x.n) as opens_so_far
        from json_to_recordset(p_items) as x(n integer, revision bigint, "organizationRevision" bigint, "rootKeyHash" text,
               "validUntil" timestamptz, deadline timestamptz, opens integer, cap integer)
        left join audit_heads h on h.organization_id = p_item_organizations[x.n] and h.chain = p_item_agents[x.n]
        left join organizations o on o.id = p_item_organizations[x.n]) c;

  for k in
    select * from json_to_recordset(p_keys) as x(item integer, "organizationId" text, scope text, fingerprint text, "executionId" text)
    where v_verdicts[x.item] = 'ok' order by x."organizationId", x.scope
  loop
    insert into idempotency_keys (organization_id, scope, fingerprint, execution_id)
    values (k."organizationId", k.scope, k.fingerprint, k."executionId") on conflict do nothing;
    if not found then v_verdicts[k.item] := 'stale'; end if;
  end loop;

  if not 'ok' = any (v_verdicts) then return v_verdicts; end if;
  v_all_ok := 'ok' = all (v_verdicts);

  insert into executions (organization_id, id, agent_id, capability, action, status, effective_mode, flagged, runtime, input, context,
                          reasons, definition, grant_id, grant_version, hitl_request_id, requested_by, reason, audit_id, traceparent,
                          created_at, started_at, closed_at, duration_ms, lease_until)
  select e.organization_id, e.id, e.agent_id, e.capability, e.action, e.status, e.effective_mode, e.flagged, e.runtime, e.input, e.context,
         e.reasons, e.definition, e.grant_id, e.grant_version, e.hitl_request_id, e.requested_by, e.reason, e.audit_id, e.traceparent,
         e.created_at, e.started_at, e.closed_at, e.duration_ms, clock_timestamp() + make_interval(secs => e.lease_seconds)
  from json_to_recordset(p_executions) as e(item integer, organization_id text, id text, agent_id text, capability text, action text,
         status text, effective_mode text, flagged boolean, runtime text, input text, context text, reasons json, definition text,
         grant_id text, grant_version integer, hitl_request_id text, requested_by text, reason text, audit_id text, traceparent text,
         created_at timestamptz, started_at timestamptz, closed_at timestamptz, duration_ms integer, lease_seconds double precision)
  where v_all_ok or v_verdicts[e.item] = 'ok';

  if json_array_length(p_requests) > 0 then
    insert into hitl_requests (organization_id, id, agent_id, agent_name, capability, action, hitl_mode, status, runs, input, context,
                               nonce, definition, digest, flagged, reasons, grant_id, execution_id, created_by, created_at, expires_at,
                               timeout_seconds, timeout_action, escalation_level, escalated_at)
    select q.organization_id, q.id, q.agent_id, q.agent_name, q.capability, q.action, q.hitl_mode, q.status, q.runs, q.input, q.context,
           q.nonce, q.definition, q.digest, q.flagged, q.reasons, q.grant_id, q.execution_id, q.created_by, q.created_at, q.expires_at,
           q.timeout_seconds, q.timeout_action, q.escalation_level, q.escalated_at
    from json_to_recordset(p_requests) as q(item integer, organization_id text, id text, agent_id text, agent_name text, capability text,
           action text, hitl_mode text, status text, runs text, input text, context text, nonce text, definition text, digest text,
           flagged boolean, reasons json, grant_id text, execution_id text, created_by text, created_at timestamptz,
           expires_at timestamptz, timeout_seconds integer, timeout_action text, escalation_level integer, escalated_at timestamptz)
    where v_verdicts[q.item] = 'ok';
    update audit_heads h set open_requests = h.open_requests + opened.count
    from (select q.organization_id, q.agent_id, count(*)::integer as count
          from json_to_recordset(p_requests) as q(item integer, organization_id text, agent_id text)
          where v_verdicts[q.item] = 'ok' group by 1, 2) opened
    where h.organization_id = opened.organization_id and h.chain = opened.agent_id;
  end if;

  if json_array_length(p_effects) > 0 then
    insert into outbox (organization_id, kind, payload)
    select f.organization_id, f.kind, f.payload
    from json_to_recordset(p_effects) as f(item integer, organization_id text, kind text, payload json)
    where v_verdicts[f.item] = 'ok';
  end if;

  if v_all_ok then
    perform append_entries_v1(p_organizations, p_chains, p_ids, p_events, p_agents, p_actors, p_capabilities, p_outcomes, p_timestamps,
      p_payloads, p_disclosures, p_subject_organizations, p_subject_users, p_subject_entries, p_subject_pointers);
  else
    perform append_entries_v1(
      array_agg(e.a1 order by e.n), array_agg(e.a2 order by e.n), array_agg(e.a3 order by e.n), array_agg(e.a4 order by e.n),
      array_agg(e.a5 order by e.n), array_agg(e.a6 order by e.n), array_agg(e.a7 order by e.n), array_agg(e.a8 order by e.n),
      array_agg(e.a9 order by e.n), array_agg(e.a10 order by e.n), array_agg(e.a11 order by e.n),
      (select array_agg(s.o) from unnest(p_subject_items, p_subject_organizations) as s(item, o) where v_verdicts[s.item] = 'ok'),
      (select array_agg(s.o) from unnest(p_subject_items, p_subject_users) as s(item, o) where v_verdicts[s.item] = 'ok'),
      (select array_agg(s.o) from unnest(p_subject_items, p_subject_entries) as s(item, o) where v_verdicts[s.item] = 'ok'),
      (select array_agg(s.o) from unnest(p_subject_items, p_subject_pointers) as s(item, o) where v_verdicts[s.item] = 'ok'))
    from unnest(p_entry_items, p_organizations, p_chains, p_ids, p_events, p_agents, p_actors, p_capabilities, p_outcomes, p_timestamps,
                p_payloads, p_disclosures) with ordinality as e(item, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, n)
    where v_verdicts[e.item] = 'ok';
  end if;
  return v_verdicts;
end $$`;

/**
 * Closes running executions after their runtime has answered: a compare-and-set on \`running\`, each with its closing
 * entry and the news of it. Verdicts: ok; busy (the head is held); lost (somebody else, usually recovery, closed it first).
 */
const GATE_CLOSE_V1 = `
create function gate_close_v1(
  p_closings json, p_effects json,
  p_organizations text[], p_chains text[], p_ids text[], p_events text[], p_agents text[], p_actors text[],
  p_capabilities text[], p_outcomes text[], p_timestamps text[], p_payloads text[], p_disclosures text[]
) returns text[] language plpgsql volatile ${BY_KEY_ONLY} as $$
declare
  v_verdicts text[];
  v_locked integer[];
  v_closed integer[];
begin
  select coalesce(array_agg(i.n::integer), '{}') into v_locked
  from (select * from unnest(p_organizations, p_chains) with ordinality as u(organization_id, chain, n)
        order by u.organization_id, u.chain) i
  cross join lateral (select from audit_heads h where h.organization_id = i.organization_id and h.chain = i.chain
                      for update skip locked) held;

  with closed as (
    update executions e
    set status = c.status, output = c.output, error = c.error, audit_id = c.audit_id, closed_at = c.closed_at,
        duration_ms = c.duration_ms, runtime = c.runtime, lease_until = null
    from json_to_recordset(p_closings) as c(n integer, organization_id text, id text, status text, output text, error json,
           audit_id text, closed_at timestamptz, duration_ms integer, runtime text)
    where e.organization_id = c.organization_id and e.id = c.id and e.status = 'running' and c.n = any (v_locked)
    returning c.n)
  select coalesce(array_agg(closed.n), '{}') into v_closed from closed;

  select array_agg(case when n = any (v_closed) then 'ok' when n = any (v_locked) then 'lost' else 'busy' end order by n)
  into v_verdicts from generate_subscripts(p_organizations, 1) as n;

  if v_closed = '{}' then return v_verdicts; end if;
  insert into outbox (organization_id, kind, payload)
  select f.organization_id, f.kind, f.payload
  from json_to_recordset(p_effects) as f(item integer, organization_id text, kind text, payload json)
  where v_verdicts[f.item] = 'ok';
  perform append_entries_v1(
    array_agg(e.a1 order by e.n), array_agg(e.a2 order by e.n), array_agg(e.a3 order by e.n), array_agg(e.a4 order by e.n),
    array_agg(e.a5 order by e.n), array_agg(e.a6 order by e.n), array_agg(e.a7 order by e.n), array_agg(e.a8 order by e.n),
    array_agg(e.a9 order by e.n), array_agg(e.a10 order by e.n), array_agg(e.a11 order by e.n), '{}', '{}', '{}', '{}')
  from unnest(p_organizations, p_chains, p_ids, p_events, p_agents, p_actors, p_capabilities, p_outcomes, p_timestamps,
              p_payloads, p_disclosures) with ordinality as e(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, n)
  where v_verdicts[e.n] = 'ok';
  return v_verdicts;
end $$`;
