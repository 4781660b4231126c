import type { MigrationInterface, QueryRunner } from 'typeorm';
import { WRITE_OUT_V1 } from './20261122000900-gather-round-trips.js';

/**
 * Why: between an approval and its runtime each way to the database and back waits behind whatever else the machine does. An effect
 * may be written as claimed already, by the server that commits it and has a place free; and a statement that has to hold can say so
 * itself, so that nobody waits for its answer before the commit is sent.
 */
export class HandEffectsOver20261124000200 implements MigrationInterface {
  name = 'HandEffectsOver20261124000200';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(INSIST_V1);
    await runner.query(WRITE_OUT_V2);
    await runner.query('drop function write_out_v1');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(WRITE_OUT_V1);
    await runner.query('drop function insist_v1, write_out_v2');
  }
}

const INSIST_V1 = `
create function insist_v1(p_holds boolean) returns void language plpgsql volatile as $$
begin
  if p_holds is not true then raise exception 'what had to hold does not' using errcode = 'CS003'; end if;
end $$`;

/** Rows are looked up by their keys here, also where a plan was cached while a table was young and small. */
const BY_KEY_ONLY = `set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off`;

/**
 * Counts of open requests → outbox → entries, for the caller that holds the heads. An effect with seconds in \`p_held\` is written as
 * claimed for so long, by the caller. Answers the effects' rows in the order that they were given in, and whether they are the caller's:
 * a trigger of somebody's may have put one off.
 */
const WRITE_OUT_V2 = `
create function write_out_v2(
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
