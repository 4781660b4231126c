import {
  BARS_NOBODY, isOfLevel, joinPlace, mayApprove, peopleOf, placeOf, reachesLevel, REQUESTS, TIES,
} from './eligible-deciders.query.js';

/** Parts of a query for open requests `q` that stand in one person's queue. */
export interface QueueSql {
  readonly with: string;
  readonly joins: string;
  readonly where: string;
}

const HERE = placeOf('m');
const NEAR = placeOf('p');
const OPEN = `q.status in ('pending', 'escalated')`;
const LEVEL = 'q.escalation_level';

/**
 * The queue of a level is its eligible deciders: who belongs to it, and may approve by separation of duties. Where there are none,
 * it is the next level's. A request that was handed to somebody who may approve it stands with nobody else.
 *
 * Admins alone belong to several levels or to none below their own, so whether somebody nearer is eligible is asked for them only:
 * `guarded` are the requests that have such a person, `addressed` those whose addressee may approve them.
 *
 * @param person the parameter that holds the person's id
 */
export const queueOf = (person: string): QueueSql => ({
  with: `with recursive ${peopleOf(`
      select o.id from users x join organizations s on s.id = x.organization_id
      join organizations o on o.id = s.id or (x.role = 'owner' and o.tenant_id = s.tenant_id) where x.id = ${person}`)},
    near as materialized (
      select a.organization_id, a.id as agent_id, a.owner_id as user_id, false as leads from here h
      join agents a on a.organization_id = h.organization_id where a.owner_id is not null
      union all
      select a.organization_id, a.id, t.user_id, t.role = 'lead' from here h join agents a on a.organization_id = h.organization_id
      join team_members t on t.organization_id = a.organization_id and t.team_id = a.team_id),
    manned as materialized (
      select near.organization_id, near.agent_id, bool_or(near.leads) as is_led from near
      join people c on c.organization_id = near.organization_id and c.id = near.user_id group by 1, 2),
    guarded as materialized (
      select q.id from ${REQUESTS} join manned on manned.organization_id = q.organization_id and manned.agent_id = q.agent_id
      where ${OPEN} and (${LEVEL} = 0 or (${LEVEL} = 1 and manned.is_led)) and ${BARS_NOBODY}
      union all
      select q.id from ${REQUESTS}
      join near on near.organization_id = q.organization_id and near.agent_id = q.agent_id
      join people c on c.organization_id = near.organization_id and c.id = near.user_id
      ${joinPlace('c', 'p')}
      where ${OPEN} and (${LEVEL} = 0 or (${LEVEL} = 1 and near.leads))
        and not ${BARS_NOBODY} and ${mayApprove('c', NEAR, LEVEL)}),
    addressed as materialized (
      select q.id from ${REQUESTS} join people c on c.organization_id = q.organization_id and c.id = q.escalated_to
      ${joinPlace('c', 'p')}
      where ${OPEN} and ${reachesLevel('c', NEAR, LEVEL)} and ${mayApprove('c', NEAR, LEVEL)})`,
  joins: `join people c on c.organization_id = q.organization_id and c.id = ${person} ${TIES} ${joinPlace('c', 'm')}`,
  where: `${OPEN} and (c.role <> 'member' or (c.id = a.owner_id) is true or m.user_id is not null)
    and ${mayApprove('c', HERE, LEVEL)} and case
    when q.escalated_to is not null and q.id in (select id from addressed) then q.escalated_to = c.id
    else ${isOfLevel('c', HERE, LEVEL)} or (c.role in ('admin', 'owner') and q.id not in (select id from guarded)) end`,
});
