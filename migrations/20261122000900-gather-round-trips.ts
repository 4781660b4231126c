import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why: a decision is a dozen small statements, and the way to the database and back costs more than most of them. What every unit
 * of work begins and ends with is one statement each.
 */
export class GatherRoundTrips20261122000900 implements MigrationInterface {
  name = 'GatherRoundTrips20261122000900';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TAKE_HOLD_V1);
    await runner.query(WRITE_OUT_V1);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop function take_hold_v1, write_out_v1`);
  }
}

/** Rows are looked up by their keys here, also where a plan was cached while a table was young and small. */
const BY_KEY_ONLY = `set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off`;

/**
 * Barriers (shared, in the order given) → heads, sorted. Two statements, each with a snapshot of its own: whoever waited at a
 * barrier reads the heads as they are after it. Answers the heads that are there, and whether their segment is closed.
 */
const TAKE_HOLD_V1 = `
create function take_hold_v1(p_barriers text[], p_organizations text[], p_chains text[])
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

/** Counts of open requests → outbox → entries, for the caller that holds the heads. */
export const WRITE_OUT_V1 = `
create function write_out_v1(
  p_counted_organizations text[], p_counted_chains text[], p_changes integer[],
  p_effect_organizations text[], p_kinds text[], p_effects json[],
  p_organizations text[], p_chains text[], p_ids text[], p_events text[], p_agents text[], p_actors text[],
  p_capabilities text[], p_outcomes text[], p_timestamps text[], p_payloads text[], p_disclosures text[],
  p_subject_organizations text[], p_subject_users text[], p_subject_entries text[], p_subject_pointers text[]
) returns void language plpgsql volatile ${BY_KEY_ONLY} as $$
begin
  if cardinality(p_changes) > 0 then
    update audit_heads h set open_requests = h.open_requests + c.change
    from unnest(p_counted_organizations, p_counted_chains, p_changes) as c(organization_id, chain, change)
    where h.organization_id = c.organization_id and h.chain = c.chain;
  end if;
  if cardinality(p_effects) > 0 then
    insert into outbox (organization_id, kind, payload) select * from unnest(p_effect_organizations, p_kinds, p_effects);
  end if;
  perform append_entries_v1(p_organizations, p_chains, p_ids, p_events, p_agents, p_actors, p_capabilities, p_outcomes, p_timestamps,
    p_payloads, p_disclosures, p_subject_organizations, p_subject_users, p_subject_entries, p_subject_pointers);
end $$`;
