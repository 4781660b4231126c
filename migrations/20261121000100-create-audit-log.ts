import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why: the audit log comes first, because everything that follows is recorded in it. Payloads and disclosures are
 * text, never jsonb: jsonb reorders members and respells numbers, and the hash covers the exact bytes. Every unique
 * key starts with organization_id, so that the tables can be distributed by it later without a rewrite of history.
 */
export class CreateAuditLog20261121000100 implements MigrationInterface {
  name = 'CreateAuditLog20261121000100';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table audit_heads (
        organization_id text collate "C" not null,
        chain           text collate "C" not null,
        seq             bigint  not null default 0,
        hash            text,
        revision        bigint  not null default 0,
        open_requests   integer not null default 0 constraint audit_heads_open_requests_not_negative check (open_requests >= 0),
        closed_at       timestamptz(3),
        primary key (organization_id, chain)
      ) with (fillfactor = 50)`);
    // Digests and salts do not compress: an entry of usual size stays in its row, rather than being tried and moved beside it.
    await runner.query(`
      create table audit_entries (
        organization_id text collate "C" not null,
        chain           text collate "C" not null,
        seq             bigint not null,
        id              text collate "C" not null,
        event           text not null,
        agent_id        text collate "C",
        actor_id        text collate "C" not null,
        capability      text,
        outcome         text,
        "timestamp"     text collate "C" not null check (length("timestamp") = 24),
        payload         text not null,
        disclosures     text not null,
        prev_hash       text collate "C",
        hash            text collate "C" not null,
        primary key (organization_id, chain, seq)
      ) with (toast_tuple_target = 4080)`);
    // Two entries with one predecessor are a fork; nulls are not distinct, so that a chain has one first entry.
    await runner.query(`create unique index audit_entries_no_fork on audit_entries (organization_id, chain, prev_hash) nulls not distinct`);
    await runner.query(`create unique index audit_entries_id on audit_entries (organization_id, id)`);
    await runner.query(`
      create table audit_tree_queue (
        organization_id text collate "C" not null,
        id              bigint generated always as identity,
        chains          text[] not null,
        seqs            bigint[] not null,
        hashes          text[] not null,
        primary key (organization_id, id)
      ) with (toast_tuple_target = 8160)`);
    await runner.query(`
      create table audit_subjects (
        organization_id text collate "C" not null,
        user_id         text collate "C" not null,
        entry_id        text collate "C" not null,
        pointer         text not null,
        primary key (organization_id, user_id, entry_id, pointer)
      )`);
    await runner.query(APPEND_ENTRIES_V1);
  }

  async down(): Promise<void> {
    throw new Error('The audit log cannot be removed by a migration; restore a backup instead.');
  }
}

/** Heads are looked up by key, also where a plan was cached while the table was young and small. */
const BY_KEY_ONLY = `set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off`;

/**
 * The one writer of the chain. The caller holds the heads' row locks, taken by an earlier statement of the same
 * transaction; this function completes each preimage with its predecessor's hash, hashes it, inserts, moves the heads
 * and queues the leaves. `{"agentId":…,"capability":…,"payload":…,"prevHash":…}` is in RFC 8785 order as it stands.
 */
const APPEND_ENTRIES_V1 = `
create function append_entries_v1(
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
    insert into audit_subjects (organization_id, user_id, entry_id, pointer)
    select * from unnest(p_subject_organizations, p_subject_users, p_subject_entries, p_subject_pointers)
    on conflict do nothing;
  end if;
end $$`;
