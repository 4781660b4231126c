import {
  BARS_NOBODY, isOfLevel, joinMembership, kinOf, mayApprove, peopleOf, type MembershipColumns, membershipColumns, reachesLevel, TIES,
} from './eligible-deciders.query.js';

/** Parts of a query for the open requests `q` in one person's queue. */
export interface QueueSql {
  readonly with: string;
  readonly joins: string;
  readonly where: string;
}

const HERE = membershipColumns('m');
const NEAR = membershipColumns('p');
const NEAR_MEMBERSHIP: MembershipColumns = {
  userId: 'c.member_id', role: 'c.member_role', since: 'c.member_since', roleSince: 'c.member_role_since',
};
const OPEN = `q.status in ('pending', 'escalated')`;
const LEVEL = 'q.escalation_level';
/** What decides who may decide a request. */
const OF_REQUESTS = [
  'organization_id', 'id', 'agent_id', 'escalation_level', 'escalated_to', 'created_at', 'created_by', 'initiators', 'vouched_by',
  'agent_owner_id', 'agent_registered_by', 'team_id', 'separation_of_duties',
] as const;

/**
 * The queue of a level is its eligible deciders: who belongs to it, and may approve by separation of duties. Where there are none,
 * it is the next level's. A request whose addressee may approve it is in nobody else's queue.
 *
 * Admins alone belong to several levels or to none below their own, so whether somebody nearer is eligible is asked for them only:
 * `guarded` are the requests that have such a person, `addressed` those whose addressee may approve them.
 *
 * @param person the parameter that holds the person's id
 * @param issuer the one that holds the provider's `iss`
 */
export const queueOf = (person: string, issuer: string): QueueSql => ({
  with: `with recursive ${peopleOf(`
      select o.id from users x join organizations s on s.id = x.organization_id
      join organizations o on o.id = s.id or (x.role = 'owner' and o.tenant_id = s.tenant_id) where x.id = ${person}`, issuer)},
    near as materialized (
      select a.organization_id, a.id, a.owner_id, a.team_id, a.owner_id as user_id, false as leads from here h
      join agents a on a.organization_id = h.organization_id where a.owner_id is not null
      union all
      select a.organization_id, a.id, a.owner_id, a.team_id, t.user_id, t.role = 'lead' from here h
      join agents a on a.organization_id = h.organization_id
      join team_members t on t.organization_id = a.organization_id and t.team_id = a.team_id),
    manned as materialized (
      select near.organization_id, near.id as agent_id, bool_or(near.leads) as is_led from near
      join people c on c.organization_id = near.organization_id and c.id = near.user_id group by 1, 2),
    -- Read once, and without what is wide in them.
    open as materialized (
      select ${OF_REQUESTS.map((column) => `q.${column}`).join(', ')}
      from here h join hitl_requests q on q.organization_id = h.organization_id where ${OPEN}),
    ${kinOf('open', `(c.id = ${person} or c.id in (select user_id from near) or c.id in (
      select escalated_to from open where escalated_to is not null))`)},
    -- Who is near, with all that is asked of them: joined to each of many requests, they are looked for once.
    guards as materialized (
      select a.organization_id, a.id as agent_id, a.team_id, a.leads, h.separation, h.company_until,
        c.id, c.role, c.email_folded, c.email_since, c.moved_since, c.created_at, c.role_since,
        p.user_id as member_id, p.role as member_role, p.since as member_since, p.role_since as member_role_since
      from near a join here h on h.organization_id = a.organization_id
      join people c on c.organization_id = a.organization_id and c.id = a.user_id
      left join team_members p on p.organization_id = a.organization_id and p.team_id = a.team_id and p.user_id = c.id),
    guarded as materialized (
      select q.id from open q ${TIES} join manned on manned.organization_id = q.organization_id and manned.agent_id = q.agent_id
      where (${LEVEL} = 0 or (${LEVEL} = 1 and manned.is_led)) and ${BARS_NOBODY}
      union all
      select q.id from open q join guards c on c.organization_id = q.organization_id and c.agent_id = q.agent_id
      cross join lateral (select c.separation, c.company_until) h cross join lateral (select c.team_id) a
      where (${LEVEL} = 0 or (${LEVEL} = 1 and c.leads)) and not ${BARS_NOBODY} and ${mayApprove('c', NEAR_MEMBERSHIP, LEVEL)}),
    addressed as materialized (
      select q.id from open q ${TIES} join people c on c.organization_id = q.organization_id and c.id = q.escalated_to
      ${joinMembership('c', 'p')}
      where ${reachesLevel('c', NEAR, LEVEL)} and ${mayApprove('c', NEAR, LEVEL)})`,
  joins: `join people c on c.organization_id = q.organization_id and c.id = ${person} ${TIES} ${joinMembership('c', 'm')}`,
  where: `${OPEN} and (c.role <> 'member' or (c.id = a.owner_id) is true or m.user_id is not null)
    and ${mayApprove('c', HERE, LEVEL)} and case
    when q.escalated_to is not null and q.id in (select id from addressed) then q.escalated_to = c.id
    else ${isOfLevel('c', HERE, LEVEL)} or (c.role in ('admin', 'owner') and q.id not in (select id from guarded)) end`,
});
