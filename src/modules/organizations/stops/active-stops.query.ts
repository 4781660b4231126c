import type { Tx } from '../../../platform/database/transaction/tx.js';

/** The stops that are in force for an agent, and since when at least one of them has been, without a gap. */
export interface ActiveStops {
  readonly stops: readonly { readonly id: string }[];
  readonly since: Date;
}

interface AgentOfStops {
  organizationId: string;
  agentId: string;
}

/**
 * For each agent, in their order, the stops that are in force for it, and since when; undefined where there are none. Called inside a unit
 * of work that has locked the agents' heads and joined their organizations' barriers.
 */
export async function activeStopsOf(tx: Tx, agents: readonly AgentOfStops[]): Promise<(ActiveStops | undefined)[]> {
  const keyOf = ({ organizationId, agentId }: AgentOfStops) => `${organizationId} ${agentId}`;
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
         (select lower(stopped) from (
            select unnest(range_agg(tstzrange(made_at, coalesce(lifted_at, 'infinity')))) as stopped from over_it) times
          where upper(stopped) = 'infinity') as since) h
     order by a.n`,
    [asked.map((agent) => agent.organizationId), asked.map((agent) => agent.agentId)],
  );
  const active = rows.map(({ ids, since }) => (since === null ? undefined : { stops: (ids ?? []).map((id) => ({ id })), since }));
  const byAgent = new Map([...distinct.keys()].map((key, i) => [key, active[i]]));
  return agents.map((agent) => byAgent.get(keyOf(agent)));
}
