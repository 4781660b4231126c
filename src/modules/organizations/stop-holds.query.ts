import type { Tx } from '../../platform/database/tx.js';

/** The stops that hold an agent at this moment, and since when at least one of them has, without a gap. */
export interface Hold {
  readonly stops: readonly { readonly id: string }[];
  readonly since: Date;
}

interface HeldAgent {
  organizationId: string;
  agentId: string;
}

/** Asked inside a unit of work that holds the agent's head and its organization's barrier. */
export async function holdOver(tx: Tx, { organizationId, agentId }: HeldAgent): Promise<Hold | undefined> {
  const [row] = await tx.query<{ ids: string[]; since: Date | null }>(
    `with over_it as (
       select id, made_at, lifted_at from stops
       where organization_id in ($1, 'org_platform') and (agent_id is null or agent_id = $2))
     select array(select id from over_it where lifted_at is null order by id) as ids,
       (select lower(held) from (
          select unnest(range_agg(tstzrange(made_at, coalesce(lifted_at, 'infinity')))) as held from over_it) times
        where upper(held) = 'infinity') as since`,
    [organizationId, agentId],
  );
  return row!.since === null ? undefined : { stops: row!.ids.map((id) => ({ id })), since: row!.since };
}

/** Whether a stop has held the agent at any time since, be it lifted by now. */
export async function wasHeldSince(tx: Tx, { organizationId, agentId }: HeldAgent, since: Date): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from stops
     where organization_id in ($1, 'org_platform') and (agent_id is null or agent_id = $2)
       and (lifted_at is null or lifted_at > $3) limit 1`,
    [organizationId, agentId, since],
  );
  return rows.length > 0;
}
