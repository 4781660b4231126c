import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why: a log of millions is asked by event, agent, person, capability, outcome and time, and by each two of them together: every
 * pair has an index that leads to its entries and to no others, so that what is common alone and rare together costs no more. Keys
 * are hashes of 64 bits: short, quick to compare, and no other index can take their place by a wrong estimate. Whoever reads by them
 * compares the texts too, which stand in the leaves of those indexes whose entries lie far apart: ten thousand are counted without
 * reading as many pages. Writing is one function still, which now says of a subject what its entry is.
 */
export class IndexAudit20261123000300 implements MigrationInterface {
  name = 'IndexAudit20261123000300';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create index audit_entries_event on audit_entries
        (hashtextextended((organization_id || ' ' || event) collate "C", 0), id)
        include (organization_id, event, "timestamp")`);
    await runner.query(`
      create index audit_entries_capability on audit_entries
        (hashtextextended((organization_id || ' ' || capability || ' ' || event) collate "C", 0), id)
        include (organization_id, capability, event, "timestamp") where capability is not null`);
    await runner.query(`
      create index audit_entries_agent_event on audit_entries
        (hashtextextended((organization_id || ' ' || agent_id || ' ' || event) collate "C", 0), seq) where agent_id is not null`);
    await runner.query(`
      create index audit_entries_agent_capability on audit_entries
        (hashtextextended((organization_id || ' ' || agent_id || ' ' || capability) collate "C", 0), seq)
        where agent_id is not null and capability is not null`);
    await this.describeSubjects(runner);
    await runner.query(AUDIT_SEQ_AT_V1);
    await runner.query(APPEND_ENTRIES_V1);
  }

  async down(): Promise<void> {
    throw new Error('The audit log cannot be taken back by a migration; restore a backup instead.');
  }

  /** What a subject's row says of its entry is what the entry says; and who acts in a chain that is not theirs is a subject of it. */
  private async describeSubjects(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table audit_subjects add column chain text collate "C", add column seq bigint, add column event text,
        add column capability text, add column outcome text, add column "timestamp" text collate "C"`);
    // Nothing may change a subject's row, so that what stands is set with the guard away, in this transaction alone.
    await runner.query(`alter table audit_subjects disable trigger user`);
    await runner.query(`
      update audit_subjects s
      set chain = e.chain, seq = e.seq, event = e.event, capability = e.capability, outcome = e.outcome, "timestamp" = e."timestamp"
      from audit_entries e where e.organization_id = s.organization_id and e.id = s.entry_id`);
    await runner.query(`alter table audit_subjects enable trigger user`);
    await runner.query(`
      insert into audit_subjects (organization_id, user_id, entry_id, pointer, chain, seq, event, capability, outcome, "timestamp")
      select organization_id, actor_id, id, '/actorId', chain, seq, event, capability, outcome, "timestamp"
      from audit_entries where actor_id <> chain and actor_id not like 'usr\\_%' on conflict do nothing`);
    await runner.query(`
      alter table audit_subjects alter column chain set not null, alter column seq set not null, alter column event set not null,
        alter column "timestamp" set not null`);
    await runner.query(`
      create index audit_subjects_event on audit_subjects
        (hashtextextended((organization_id || ' ' || user_id || ' ' || event) collate "C", 0), entry_id)`);
    await runner.query(`
      create index audit_subjects_capability on audit_subjects
        (hashtextextended((organization_id || ' ' || user_id || ' ' || capability) collate "C", 0), entry_id)
        where capability is not null`);
    await runner.query(`
      create index audit_subjects_chain on audit_subjects
        (hashtextextended((organization_id || ' ' || user_id || ' ' || chain) collate "C", 0), seq)`);
  }
}

/** Rows are looked up by key, also where a plan was cached while the table was young and small. */
const BY_KEY_ONLY = `set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off`;

/**
 * The position in a chain at which its entries reach a time, by halving: entries before it are older and those from it on younger,
 * but for what neighbours in a chain differ by (clocks of replicas, entries that waited for the chain).
 */
const AUDIT_SEQ_AT_V1 = `
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

/**
 * The one writer of the chain. The caller holds the heads' row locks, taken by an earlier statement of the same
 * transaction; this function completes each preimage with its predecessor's hash, hashes it, inserts, moves the heads
 * and queues the leaves. `{"agentId":…,"capability":…,"payload":…,"prevHash":…}` is in RFC 8785 order as it stands.
 */
const APPEND_ENTRIES_V1 = `
create or replace function append_entries_v1(
  p_organizations text[], p_chains text[], p_ids text[], p_events text[], p_agents text[], p_actors text[],
  p_capabilities text[], p_outcomes text[], p_timestamps text[], p_payloads text[], p_disclosures text[],
  p_subject_organizations text[], p_subject_users text[], p_subject_entries text[], p_subject_pointers text[]
) returns void language plpgsql volatile ${BY_KEY_ONLY} as $$
declare
  e record;
  v_organization text;
  v_chain text;
  v_seq bigint;
  v_hash text;
  v_count integer := coalesce(array_length(p_ids, 1), 0);
  v_seqs bigint[] := array_fill(null::bigint, array[v_count]);
  v_prevs text[] := array_fill(null::text, array[v_count]);
  v_hashes text[] := array_fill(null::text, array[v_count]);
begin
  if v_count = 0 then return; end if;
  for e in
    select u.*, h.seq as head_seq, h.hash as head_hash, h.closed_at
    from unnest(p_organizations, p_chains, p_agents, p_capabilities, p_payloads) with ordinality
           as u(organization_id, chain, agent_id, capability, payload, n)
    left join audit_heads h on h.organization_id = u.organization_id and h.chain = u.chain
    order by u.organization_id collate "C", u.chain collate "C", u.n
  loop
    if v_chain is distinct from e.chain or v_organization is distinct from e.organization_id then
      if e.head_seq is null or e.closed_at is not null then
        raise exception 'chain % of % has no open head', e.chain, e.organization_id using errcode = 'CS001';
      end if;
      v_organization := e.organization_id;
      v_chain := e.chain;
      v_seq := e.head_seq;
      v_hash := e.head_hash;
    end if;
    v_seq := v_seq + 1;
    v_seqs[e.n] := v_seq;
    v_prevs[e.n] := v_hash;
    v_hash := encode(sha256(convert_to(
      '{' || coalesce('"agentId":' || to_json(e.agent_id)::text || ',', '')
          || coalesce('"capability":' || to_json(e.capability)::text || ',', '')
          || '"payload":' || e.payload
          || coalesce(',"prevHash":"' || v_hash || '"', '') || '}', 'UTF8')), 'hex');
    v_hashes[e.n] := v_hash;
  end loop;

  insert into audit_entries (organization_id, chain, seq, id, event, agent_id, actor_id, capability, outcome, "timestamp",
                             payload, disclosures, prev_hash, hash)
  select * from unnest(p_organizations, p_chains, v_seqs, p_ids, p_events, p_agents, p_actors, p_capabilities, p_outcomes,
                       p_timestamps, p_payloads, p_disclosures, v_prevs, v_hashes);

  update audit_heads h set seq = last.seq, hash = last.hash
  from (select distinct on (u.organization_id, u.chain) u.*
        from unnest(p_organizations, p_chains, v_seqs, v_hashes) as u(organization_id, chain, seq, hash)
        order by u.organization_id, u.chain, u.seq desc) last
  where h.organization_id = last.organization_id and h.chain = last.chain;

  insert into audit_tree_queue (organization_id, chains, seqs, hashes)
  select u.organization_id, array_agg(u.chain order by u.n), array_agg(u.seq order by u.n), array_agg(u.hash order by u.n)
  from unnest(p_organizations, p_chains, v_seqs, v_hashes) with ordinality as u(organization_id, chain, seq, hash, n)
  group by u.organization_id;

  if array_length(p_subject_users, 1) > 0 then
    insert into audit_subjects (organization_id, user_id, entry_id, pointer, chain, seq, event, capability, outcome, "timestamp")
    select s.organization_id, s.user_id, s.entry_id, s.pointer, x.chain, x.seq, x.event, x.capability, x.outcome, x."timestamp"
    from unnest(p_subject_organizations, p_subject_users, p_subject_entries, p_subject_pointers)
           as s(organization_id, user_id, entry_id, pointer)
    join audit_entries x on x.organization_id = s.organization_id and x.id = s.entry_id
    on conflict do nothing;
  end if;
end $$`;
