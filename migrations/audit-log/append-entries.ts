import { BY_KEY_ONLY } from '../shared/by-key-only.js';

/**
 * Why: the one writer of the chain. The caller holds the heads' row locks, taken by an earlier statement of the same
 * transaction; this function completes each preimage with its predecessor's hash, hashes it, inserts, moves the heads
 * and queues the leaves. `{"agentId":…,"capability":…,"payload":…,"prevHash":…}` is in RFC 8785 order as it stands.
 */
export const APPEND_ENTRIES = `
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
    insert into audit_subjects (organization_id, user_id, entry_id, pointer, chain, seq, event, capability, outcome, "timestamp")
    select s.organization_id, s.user_id, s.entry_id, s.pointer, x.chain, x.seq, x.event, x.capability, x.outcome, x."timestamp"
    from unnest(p_subject_organizations, p_subject_users, p_subject_entries, p_subject_pointers)
           as s(organization_id, user_id, entry_id, pointer)
    join audit_entries x on x.organization_id = s.organization_id and x.id = s.entry_id
    on conflict do nothing;
  end if;
end $$`;
