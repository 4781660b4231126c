import { Inject, Injectable } from '@nestjs/common';
import type { EscalationLevel } from '../../../domain/hitl/transition.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { joinProviderClaims } from '../../sign-in/ports/provider-claims.query.js';

/** A request, and its present level or the one that it is escalated to. */
export interface LevelWanted {
  organizationId: string;
  id: string;
  level: EscalationLevel;
}

// The rules of src/domain/hitl/duties.ts in SQL, for many people and requests at once. A test compares the two over people, teams and
// requests of all kinds (test/long/http/queue-rules.test.ts).

/**
 * The people of organizations, as common table expressions: `here` are the organizations, `people` the accounts that may decide anything
 * in one of them, once for each organization. A tenant group is a tenant's organizations, or one without a tenant: its owners act in all
 * of them, and accounts of one person are looked for there.
 *
 * @param organizations SQL of a query for ids
 * @param issuer the parameter that holds the provider's `iss`
 */
export const peopleOf = (organizations: string, issuer: string): string => `
  here as materialized (
    select o.id as organization_id, coalesce(o.tenant_id, o.id) as tenant_group, o.separation_of_duties as separation,
      -- The end of the time with two people or more: since then the organization has had one at most.
      (select coalesce(c.ended_at, 'infinity') from users c
       where c.organization_id = o.id
         or (c.role = 'owner' and c.organization_id in (select t.id from organizations t where t.tenant_id = o.tenant_id))
       order by 1 desc offset 1 limit 1) as company_until
    from organizations o where o.id in (${organizations})),
  homes as materialized (
    select o.id as organization_id, coalesce(o.tenant_id, o.id) as tenant_group from organizations o
    where coalesce(o.tenant_id, o.id) in (select tenant_group from here)),
  is_strict as materialized (
    select exists (select from here where separation = 'strict') or exists (
      select from hitl_requests q where q.organization_id in (select organization_id from here)
        and q.status in ('pending', 'escalated') and q.separation_of_duties = 'strict') as yes),
  -- Each account with itself, those who vouched for it, and so on. Read under strict only.
  behind (tenant_group, id, up) as (
    select s.tenant_group, u.id, u.id from homes s join users u on u.organization_id = s.organization_id where (select yes from is_strict)
    union
    select b.tenant_group, b.id, v.vouched_by from behind b
    join users v on v.id = b.up join homes s on s.organization_id = v.organization_id and s.tenant_group = b.tenant_group
    where starts_with(v.vouched_by, 'usr_')),
  selves as materialized (
    select b.tenant_group, b.id as name, b.up from behind b
    union
    select b.tenant_group, u.email_folded, b.up from behind b join users u on u.id = b.id where u.email_folded is not null
    union
    select b.tenant_group, i.id, b.up from behind b join users u on u.id = b.id join users i on i.email_folded = u.email_folded),
  moved as materialized (
    select b.tenant_group, b.up, max(u.email_since) as since from behind b join users u on u.id = b.id group by 1, 2),
  kin as materialized (
    select s.tenant_group, s.name as id, array_agg(s.up) as ups, max(w.since) as moved_since
    from selves s left join moved w on w.tenant_group = s.tenant_group and w.up = s.up where starts_with(s.name, 'usr_') group by 1, 2),
  people as materialized (
    select h.organization_id, h.tenant_group, u.id, may.role, u.email_folded, u.created_at, may.role_since, u.email_since, k.ups,
      k.moved_since
    from here h join homes s on s.tenant_group = h.tenant_group
    join users u on u.organization_id = s.organization_id and (s.organization_id = h.organization_id or u.role = 'owner')
    ${joinProviderClaims('u', issuer)}
    left join kin k on k.tenant_group = h.tenant_group and k.id = u.id
    where u.status = 'active' and may.role <> 'viewer' and (s.organization_id = h.organization_id or may.role = 'owner'))`;

/** Joins to a request `q` its organization `h` and its agent as it is now, `a`. */
export const TIES = `join here h on h.organization_id = q.organization_id
  join agents a on a.organization_id = q.organization_id and a.id = q.agent_id`;

export const REQUESTS = `hitl_requests q ${TIES}`;

/** A key of the people tied to a request beside its initiators. Thousands of requests of an agent have the same. */
const TIES_KEY = `concat_ws(' ', q.organization_id, q.agent_id, q.created_by, coalesce(q.agent_owner_id, '-'),
  coalesce(q.agent_registered_by, '-'), q.vouched_by)`;

/**
 * Who counts as one person with whom, under strict, as common table expressions after those of `peopleOf`: `akin` are people with the
 * initiators that count as one person with them, `barred` people with the ties that bar them. Computed once for each name and each set of
 * ties: looking people up for each of many requests takes the database seconds.
 *
 * @param requests SQL of a table or query, as `q`, of the open requests that are asked about
 * @param people SQL of a condition for the people `c` who are
 */
export const kinOf = (requests: string, people: string): string => `
  ties as materialized (
    select distinct h.tenant_group, ${TIES_KEY} as key,
      array[q.created_by, q.agent_owner_id, a.owner_id, q.agent_registered_by, a.registered_by, q.vouched_by] as names
    from ${requests} q ${TIES} where (select yes from is_strict) and 'strict' in (q.separation_of_duties, h.separation)),
  tied as materialized (
    select distinct t.tenant_group, t.key, lower(btrim(n)) as name from ties t cross join lateral unnest(t.names) as n where n is not null),
  named as materialized (
    select tenant_group, name from tied
    union
    select h.tenant_group, lower(btrim(n)) from ${requests} q ${TIES} cross join lateral unnest(q.initiators) as n
    where (select yes from is_strict) and q.initiators <> '{}' and 'strict' in (q.separation_of_duties, h.separation)),
  akin as materialized (
    -- The group is compared last, hence the expression: joined by group first, every name would be compared with every other.
    select distinct c.tenant_group, c.id, s.name from named n join selves s on s.name = n.name and s.tenant_group || '' = n.tenant_group
    join (select distinct p.tenant_group, p.id, up from people p cross join lateral unnest(p.ups) as up) c on c.up = s.up
    where ${people}),
  barred as materialized (
    select distinct k.id, t.key from tied t join akin k on k.tenant_group = t.tenant_group and k.name = t.name)`;

/** Columns of a person's membership of the agent's present team; null where the person is no member. */
export interface MembershipColumns {
  readonly userId: string;
  readonly role: string;
  readonly since: string;
  readonly roleSince: string;
}

/** Joins that membership, as `m`. */
export const joinMembership = (person: string, m: string): string => `left join team_members ${m}
  on ${m}.organization_id = q.organization_id and ${m}.team_id = a.team_id and ${m}.user_id = ${person}.id`;

export const membershipColumns = (m: string): MembershipColumns => ({
  userId: `${m}.user_id`, role: `${m}.role`, since: `${m}.since`, roleSince: `${m}.role_since`,
});

/** Most requests have no person as an initiator, and need no look at people. */
const IS_NOBODYS = `(q.initiators = '{}' and not starts_with(q.created_by, 'usr_'))`;

/** Whether separation of duties bars nobody at all from approving the request. */
export const BARS_NOBODY = `(${IS_NOBODYS} and 'strict' not in (q.separation_of_duties, h.separation))`;

/** An address was claimed at the time of the request: an account whose own was changed since may have had it. */
const mayHaveBeen = (name: string, movedSince: string): string => `(${name} like '%@%' and ${movedSince} >= q.created_at)`;

/** Whether separation of duties lets the person approve the request at the level, without breaking the glass. */
export const mayApprove = (c: string, membership: MembershipColumns, level: string): string => `(
  h.company_until is null or h.company_until <= q.created_at or (
    (${IS_NOBODYS} or (
      -- Under strict, names and addresses are compared below; here only accounts whose address was changed since.
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
      and (${c}.role <> 'member' or ${membership.userId} is null
        or (${membership.since} < q.created_at and (${level} <> 1 or ${membership.roleSince} < q.created_at)
          and q.team_id is not distinct from a.team_id))
    end))`;

const isNamed = (c: string, movedSince: string): string =>
  `(lower(btrim(n)) = ${c}.id or lower(btrim(n)) = ${c}.email_folded or ${mayHaveBeen('n', movedSince)})`;

/** Whether the person belongs to the level: owner of the agent and team, leads, or admins. */
export const isOfLevel = (c: string, membership: MembershipColumns, level: string): string => `case ${level}
  when 0 then (${c}.id = a.owner_id) is true or ${membership.userId} is not null
  when 1 then (${membership.role} = 'lead') is true
  else ${c}.role in ('admin', 'owner') end`;

/** Whether the person may decide at the level: they belong to it or to a higher one. */
export const reachesLevel = (c: string, membership: MembershipColumns, level: string): string => `(${c}.role in ('admin', 'owner')
  or (${level} <= 1 and (${membership.role} = 'lead') is true)
  or (${level} = 0 and ((${c}.id = a.owner_id) is true or ${membership.userId} is not null)))`;

const MEMBER = membershipColumns('m');

/** Finds the eligible deciders of many requests at once. No tables of its own. */
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
