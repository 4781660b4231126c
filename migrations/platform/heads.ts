import { BY_KEY_ONLY } from '../shared/by-key-only.js';

/**
 * Why: a decision is a dozen small statements, and the way to the database and back costs more than most of them. What every unit of
 * work begins and ends with is one statement each, and a condition on which the commit depends is asserted by the database, so that
 * nobody waits for an answer before the commit is sent.
 */
const ASSERT_TRUE = `
create function assert_true_v1(p_holds boolean) returns void language plpgsql volatile as $$
begin
  if p_holds is not true then raise exception 'an asserted condition does not hold' using errcode = 'CS003'; end if;
end $$`;

/** The advisory lock that orders what the agents of an organization share. One definition, used by every side of it. */
const ORGANIZATION_BARRIER = `
create function organization_barrier_v1(p_organization text) returns bigint language sql immutable parallel safe
as $$ select hashtextextended(p_organization, 4711) $$`;

/**
 * Barriers (shared, in the order given) → heads, sorted. Two statements, each with a snapshot of its own: whoever waited at a
 * barrier reads the heads as they are after it. Answers the heads that are there, and whether their segment is closed.
 */
const LOCK_BARRIERS_AND_HEADS = `
create function lock_barriers_and_heads_v1(p_barriers text[], p_organizations text[], p_chains text[])
returns table (organization text, chain text, is_closed boolean) language plpgsql volatile ${BY_KEY_ONLY} as $$
declare
  v_barrier text;
begin
  foreach v_barrier in array p_barriers loop
    perform pg_advisory_xact_lock_shared(organization_barrier_v1(v_barrier));
  end loop;
  return query
    select h.organization_id, h.chain, h.closed_at is not null from audit_heads h
    where (h.organization_id, h.chain) in (select * from unnest(p_organizations, p_chains))
    order by h.organization_id, h.chain for update;
end $$`;

/**
 * Counts of open requests → outbox → entries, for the caller that has locked the heads. An effect with seconds in `p_held` is written
 * as claimed for so long, by the caller: the server that commits it and has a slot free begins it at once. Answers the effects' rows in
 * the order that they were given in, and whether they are the caller's: a trigger of somebody's may have put one off.
 */
const WRITE_OUT = `
create function write_out_v1(
  p_counted_organizations text[], p_counted_chains text[], p_changes integer[],
  p_effect_organizations text[], p_kinds text[], p_effects json[], p_held double precision[],
  p_organizations text[], p_chains text[], p_ids text[], p_events text[], p_agents text[], p_actors text[],
  p_capabilities text[], p_outcomes text[], p_timestamps text[], p_payloads text[], p_disclosures text[],
  p_subject_organizations text[], p_subject_users text[], p_subject_entries text[], p_subject_pointers text[]
) returns table (effect_id bigint, effect_created_at timestamptz, effect_is_held boolean) language plpgsql volatile ${BY_KEY_ONLY} as $$
begin
  if cardinality(p_changes) > 0 then
    update audit_heads h set open_requests = h.open_requests + c.change
    from unnest(p_counted_organizations, p_counted_chains, p_changes) as c(organization_id, chain, change)
    where h.organization_id = c.organization_id and h.chain = c.chain;
  end if;
  if cardinality(p_effects) > 0 then
    return query
      with written as (
        insert into outbox (organization_id, kind, payload, available_at, attempts)
        select e.organization_id, e.kind, e.payload, clock_timestamp() + make_interval(secs => e.held), (e.held > 0)::integer
        from unnest(p_effect_organizations, p_kinds, p_effects, p_held) with ordinality as e(organization_id, kind, payload, held, n)
        order by e.n
        returning outbox.id, outbox.created_at, outbox.attempts)
      select w.id, w.created_at::timestamptz, w.attempts = 1 from written w order by w.id;
  end if;
  perform append_entries_v1(p_organizations, p_chains, p_ids, p_events, p_agents, p_actors, p_capabilities, p_outcomes, p_timestamps,
    p_payloads, p_disclosures, p_subject_organizations, p_subject_users, p_subject_entries, p_subject_pointers);
end $$`;

export const HEADS = [ASSERT_TRUE, ORGANIZATION_BARRIER, LOCK_BARRIERS_AND_HEADS, WRITE_OUT];
