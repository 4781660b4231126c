import { Inject, Injectable } from '@nestjs/common';
import type { EscalationLevel } from '../../../domain/hitl/transition.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { joinProviderClaims } from '../../sign-in/ports/provider-claims.query.js';

/** A request, and a level that it stands at or goes to. */
export interface LevelWanted {
  organizationId: string;
  id: string;
  level: EscalationLevel;
}

// The rules of src/domain/hitl/duties.ts for many people and requests at once. That these two say the same is held by a test that
// compares them over people, teams and requests of all kinds (test/contract/http/queue-rules.test.ts).

/**
 * The people of organizations, as common table expressions: `here` the organizations, `people` whoever may decide anything in one of
 * them, once for each. People of one tenant are one house, in which accounts are looked for and owners act everywhere.
 *
 * @param organizations SQL of a query for ids
 * @param issuer the parameter that holds the provider's `iss`
 */
export const peopleOf = (organizations: string, issuer: string): string => `
  here as materialized (
    select o.id as organization_id, coalesce(o.tenant_id, o.id) as house, o.separation_of_duties as separation,
      -- Until when there have been two people: a request made since then has had one at most.
      (select coalesce(c.ended_at, 'infinity') from users c
       where c.organization_id = o.id
         or (c.role = 'owner' and c.organization_id in (select t.id from organizations t where t.tenant_id = o.tenant_id))
       order by 1 desc offset 1 limit 1) as company_until
    from organizations o where o.id in (${organizations})),
  homes as materialized (
    select o.id as organization_id, coalesce(o.tenant_id, o.id) as house from organizations o
    where coalesce(o.tenant_id, o.id) in (select house from here)),
  is_strict as materialized (
    select exists (select from here where separation = 'strict') or exists (
      select from hitl_requests q where q.organization_id in (select organization_id from here)
        and q.status in ('pending', 'escalated') and q.separation_of_duties = 'strict') as yes),
  -- Each account with itself and whoever vouched for it, and so on. Looked at under strict alone.
  behind (house, id, up) as (
    select s.house, u.id, u.id from homes s join users u on u.organization_id = s.organization_id where (select yes from is_strict)
    union
    select b.house, b.id, v.vouched_by from behind b
    join users v on v.id = b.up join homes s on s.organization_id = v.organization_id and s.house = b.house
    where starts_with(v.vouched_by, 'usr_')),
  selves as materialized (
    select b.house, b.id as name, b.up from behind b
    union
    select b.house, u.email_folded, b.up from behind b join users u on u.id = b.id where u.email_folded is not null
    union
    select b.house, i.id, b.up from behind b join users u on u.id = b.id join users i on i.email_folded = u.email_folded),
  moved as materialized (
    select b.house, b.up, max(u.email_since) as since from behind b join users u on u.id = b.id group by 1, 2),
  kin as materialized (
    select s.house, s.name as id, array_agg(s.up) as ups, max(w.since) as moved_since
    from selves s left join moved w on w.house = s.house and w.up = s.up where starts_with(s.name, 'usr_') group by 1, 2),
  people as materialized (
    select h.organization_id, h.house, u.id, may.role, u.email_folded, u.created_at, may.role_since, u.email_since, k.ups, k.moved_since
    from here h join homes s on s.house = h.house
    join users u on u.organization_id = s.organization_id and (s.organization_id = h.organization_id or u.role = 'owner')
    ${joinProviderClaims('u', issuer)}
    left join kin k on k.house = h.house and k.id = u.id
    where u.status = 'active' and may.role <> 'viewer' and (s.organization_id = h.organization_id or may.role = 'owner'))`;

/** Joins to a request `q` its organization `h` and its agent as it is now, `a`. */
export const TIES = `join here h on h.organization_id = q.organization_id
  join agents a on a.organization_id = q.organization_id and a.id = q.agent_id`;

export const REQUESTS = `hitl_requests q ${TIES}`;

/** Who stands behind a request beside its initiators. Thousands of requests of an agent have the same. */
const TIES_KEY = `concat_ws(' ', q.organization_id, q.agent_id, q.created_by, coalesce(q.agent_owner_id, '-'),
  coalesce(q.agent_registered_by, '-'), q.vouched_by)`;

/**
 * Behind whom somebody stands, under strict, as common table expressions after those of `peopleOf`: `akin` the people with the names
 * of the requests that are one person with them, `barred` the people with the ties that bar them. Found once for each name and each
 * set of ties, since looking people up for each of many requests takes the database seconds.
 *
 * @param requests SQL of a table or query, as `q`, of the open requests that are asked about
 * @param people SQL of a condition for the people `c` who are
 */
export const kinOf = (requests: string, people: string): string => `
  ties as materialized (
    select distinct h.house, ${TIES_KEY} as key,
      array[q.created_by, q.agent_owner_id, a.owner_id, q.agent_registered_by, a.registered_by, q.vouched_by] as names
    from ${requests} q ${TIES} where (select yes from is_strict) and 'strict' in (q.separation_of_duties, h.separation)),
  tied as materialized (
    select distinct t.house, t.key, lower(btrim(n)) as name from ties t cross join lateral unnest(t.names) as n where n is not null),
  named as materialized (
    select house, name from tied
    union
    select h.house, lower(btrim(n)) from ${requests} q ${TIES} cross join lateral unnest(q.initiators) as n
    where (select yes from is_strict) and q.initiators <> '{}' and 'strict' in (q.separation_of_duties, h.separation)),
  akin as materialized (
    -- A user's id says which house. By it names are compared last: joined by it first, all names would meet all others.
    select distinct c.house, c.id, s.name from named n join selves s on s.name = n.name and s.house || '' = n.house
    join (select distinct p.house, p.id, up from people p cross join lateral unnest(p.ups) as up) c on c.up = s.up
    where ${people}),
  barred as materialized (
    select distinct k.id, t.key from tied t join akin k on k.house = t.house and k.name = t.name)`;

/** Expressions for the place that somebody has in the agent's team of now; null where they have none. */
export interface MembershipColumns {
  readonly userId: string;
  readonly role: string;
  readonly since: string;
  readonly roleSince: string;
}

/** Joins that place, as `m`. */
export const joinMembership = (person: string, m: string): string => `left join team_members ${m}
  on ${m}.organization_id = q.organization_id and ${m}.team_id = a.team_id and ${m}.user_id = ${person}.id`;

export const membershipColumns = (m: string): MembershipColumns => ({
  userId: `${m}.user_id`, role: `${m}.role`, since: `${m}.since`, roleSince: `${m}.role_since`,
});

/** Most requests have no person behind them, and cost no look at anybody. */
const IS_NOBODYS = `(q.initiators = '{}' and not starts_with(q.created_by, 'usr_'))`;

/** Whether separation of duties bars nobody at all from approving the request. */
export const BARS_NOBODY = `(${IS_NOBODYS} and 'strict' not in (q.separation_of_duties, h.separation))`;

/** An address is claimed as it stands: whoever has changed theirs since the request was made may have had it. */
const mayHaveBeen = (name: string, movedSince: string): string => `(${name} like '%@%' and ${movedSince} >= q.created_at)`;

/** Whether separation of duties lets the person approve the request at the level, without breaking the glass. */
export const mayApprove = (c: string, place: MembershipColumns, level: string): string => `(
  h.company_until is null or h.company_until <= q.created_at or (
    (${IS_NOBODYS} or (
      -- Names and addresses are asked about below, under strict; here is left whoever has changed theirs since.
      ('strict' in (q.separation_of_duties, h.separation) and ${c}.email_since < q.created_at) or (
        not exists (select from unnest(q.initiators || q.created_by) as n where ${isNamed(c, `${c}.email_since`)})
        and not exists (select from unnest(q.initiators || q.created_by) as n
          -- Limited, so that it stays a lookup by key for each of many requests.
          cross join lateral (select u.email_folded, u.email_since from users u where u.id = n limit 1) i
          where starts_with(n, 'usr_')
            and (i.email_folded = ${c}.email_folded or (i.email_since >= q.created_at and ${c}.email_since >= q.created_at))))))
    and case when 'strict' not in (q.separation_of_duties, h.separation) then true else
      (${c}.id, ${TIES_KEY}) not in (select id, key from barred)
      and (q.vouched_by is null or not ${mayHaveBeen('q.vouched_by', `greatest(${c}.email_since, ${c}.moved_since)`)})
      and (q.initiators = '{}' or not exists (
        select from unnest(q.initiators) as n where (${c}.id, lower(btrim(n))) in (select id, name from akin)
          or ${mayHaveBeen('n', `greatest(${c}.email_since, ${c}.moved_since)`)}))
      and ${c}.created_at < q.created_at and ${c}.role_since < q.created_at
      and (${c}.role <> 'member' or ${place.userId} is null
        or (${place.since} < q.created_at and (${level} <> 1 or ${place.roleSince} < q.created_at)
          and q.team_id is not distinct from a.team_id))
    end))`;

const isNamed = (c: string, movedSince: string): string =>
  `(lower(btrim(n)) = ${c}.id or lower(btrim(n)) = ${c}.email_folded or ${mayHaveBeen('n', movedSince)})`;

/** Whether somebody is one of those whom a level means. */
export const isOfLevel = (c: string, place: MembershipColumns, level: string): string => `case ${level}
  when 0 then (${c}.id = a.owner_id) is true or ${place.userId} is not null
  when 1 then (${place.role} = 'lead') is true
  else ${c}.role in ('admin', 'owner') end`;

/** Whether somebody may decide at a level at all: those of it, and those above. */
export const reachesLevel = (c: string, place: MembershipColumns, level: string): string => `(${c}.role in ('admin', 'owner')
  or (${level} <= 1 and (${place.role} = 'lead') is true)
  or (${level} = 0 and ((${c}.id = a.owner_id) is true or ${place.userId} is not null)))`;

const MEMBER = membershipColumns('m');

/** Who is eligible to decide requests, in sets. No tables of its own. */
@Injectable()
export class EligibleDecidersQuery {
  private readonly issuer: string | null;

  constructor(@Inject(CONFIG) { oidcIssuer }: Pick<CompleteConfig, 'oidcIssuer'>) {
    this.issuer = oidcIssuer ?? null;
  }

  /** @returns for each request that has exactly one eligible person of the level, by the request's id, that person */
  async onlyOnes(tx: Tx, wanted: readonly LevelWanted[]): Promise<Map<string, string>> {
    if (wanted.length === 0) return new Map();
    const rows = await tx.query<{ id: string; userId: string }>(
      `with recursive ${peopleOf('select unnest($1::text[])', '$4')},
       ${kinOf(`(select q.* from hitl_requests q
         join unnest($1::text[], $2::text[]) as w(organization_id, id) using (organization_id, id))`, 'true')}
       select q.id, min(c.id) as "userId"
       from unnest($1::text[], $2::text[], $3::integer[]) as w(organization_id, id, level)
       join (${REQUESTS}) on q.organization_id = w.organization_id and q.id = w.id
       join people c on c.organization_id = q.organization_id ${joinMembership('c', 'm')}
       where ${isOfLevel('c', MEMBER, 'w.level')} and ${mayApprove('c', MEMBER, 'w.level')}
       group by q.id having count(*) = 1`,
      [wanted.map((one) => one.organizationId), wanted.map((one) => one.id), wanted.map((one) => one.level), this.issuer],
    );
    return new Map(rows.map(({ id, userId }) => [id, userId]));
  }

  /** Whether this person, of any organization, could approve the request at that level. */
  async mayApproveAt(tx: Tx, { organizationId, id, level }: LevelWanted, userId: string): Promise<boolean> {
    const rows = await tx.query(
      `with recursive ${peopleOf('$1', '$5')}, ${kinOf('(select * from hitl_requests where organization_id = $1 and id = $2)', 'c.id = $4')}
       select 1 from ${REQUESTS} join people c on c.organization_id = q.organization_id ${joinMembership('c', 'm')}
       where q.organization_id = $1 and q.id = $2 and c.id = $4
         and ${reachesLevel('c', MEMBER, '$3::integer')} and ${mayApprove('c', MEMBER, '$3::integer')}`,
      [organizationId, id, level, userId, this.issuer],
    );
    return rows.length > 0;
  }
}
