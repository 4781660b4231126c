import type { Tx } from '../../../platform/database/transaction/tx.js';

/** The stops that hold an agent at this moment, and since when at least one of them has, without a gap. */
export interface ActiveStops {
  readonly stops: readonly { readonly id: string }[];
  readonly since: Date;
}

interface HeldAgent {
  organizationId: string;
  agentId: string;
}

/**
 * For each agent, in its order, what holds it, if anything. Asked inside a unit of work that holds the agents' heads and their
 * organizations' barriers.
 */
export async function activeStopsOf(tx: Tx, agents: readonly HeldAgent[]): Promise<(ActiveStops | undefined)[]> {
  const keyOf = ({ organizationId, agentId }: HeldAgent) => `${organizationId} ${agentId}`;
  // Many requests of one agent are one question.
  const distinct = new Map(agents.map((agent) => [keyOf(agent), agent]));
  const asked = [...distinct.values()];
  const rows = await tx.query<{ ids: string[] | null; since: Date | null }>(
    `select h.ids, h.since
     from unnest($1::text[], $2::text[]) with ordinality as a(organization_id, agent_id, n)
     cross join lateral (
       with over_it as (
         select id, made_at, lifted_at from stops
         where organization_id in (a.organization_id, 'org_platform') and (agent_id is null or agent_id = a.agent_id))
       select array(select id from over_it where lifted_at is null order by id) as ids,
         (select lower(held) from (
            select unnest(range_agg(tstzrange(made_at, coalesce(lifted_at, 'infinity')))) as held from over_it) times
          where upper(held) = 'infinity') as since) h
     order by a.n`,
    [asked.map((agent) => agent.organizationId), asked.map((agent) => agent.agentId)],
  );
  const holds = rows.map(({ ids, since }) => (since === null ? undefined : { stops: (ids ?? []).map((id) => ({ id })), since }));
  const byAgent = new Map([...distinct.keys()].map((key, i) => [key, holds[i]]));
  return agents.map((agent) => byAgent.get(keyOf(agent)));
}
