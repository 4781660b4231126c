import { barredFrom, foldPerson, isAddress, stricterOf } from '../../../domain/hitl/duties.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { pipelined } from '../../../platform/database/transaction/pipelined.js';
import { joinProviderClaims } from '../../sign-in/ports/provider-claims.query.js';
import {
  type AccountRow, type CandidateRow, Eligibility, type JudgedRequest, type MembershipRow, type OrganizationRow,
} from './eligibility.js';

/** Which people are candidates: those of these ids, members of these teams, and, where wanted, admins and owners. */
export interface CandidateFilter {
  readonly users: readonly string[];
  readonly teams: readonly string[];
  readonly admins: boolean;
  /** Which candidates count as one person is asked too, whatever the separation of duties: a quorum counts people, not accounts. */
  readonly selves?: boolean;
}

const ORGANIZATIONS = `
  select o.id, coalesce(o.tenant_id, o.id) as "tenantGroup", o.separation_of_duties as "separationOfDuties",
    (select coalesce(c.ended_at, 'infinity') from users c
     where c.organization_id = o.id
       or (c.role = 'owner' and c.organization_id in (select t.id from organizations t where t.tenant_id = o.tenant_id))
     order by 1 desc offset 1 limit 1) as "companyUntil"
  from organizations o where o.id = any ($1)`;

/** Organizations of the same tenant groups, as `homes`. */
export const HOMES = `
  homes as materialized (
    select o.id, coalesce(o.tenant_id, o.id) as tenant_group from organizations o
    where o.id = any ($1) or o.tenant_id in (select h.tenant_id from organizations h where h.id = any ($1)))`;

// An owner acts in every organization of their tenant.
const CANDIDATES = `
  with ${HOMES}
  select h.id as "organizationId", u.id as "userId", u.email_folded as "emailFolded", may.role, may.role_since as "roleSince",
    u.created_at as "accountSince", u.email_since as "addressSince"
  from homes h join homes s on s.tenant_group = h.tenant_group
  join users u on u.organization_id = s.id and (s.id = h.id or u.role = 'owner')
  ${joinProviderClaims('u', '$2')}
  where h.id = any ($1) and u.status = 'active' and may.role <> 'viewer' and (s.id = h.id or may.role = 'owner')
    and (u.id = any ($3) or ($4 and may.role <> 'member') or exists (
      select from team_members m where m.organization_id = h.id and m.user_id = u.id and m.team_id = any ($5)))`;

const MEMBERSHIPS = `
  select m.organization_id as "organizationId", m.team_id as "teamId", m.user_id as "userId", m.role, m.since, m.role_since as "roleSince"
  from team_members m where m.organization_id = any ($1) and (m.team_id = any ($2) or (m.user_id = any ($3) and m.team_id = any ($4)))`;

// Parameters: organizations, ids, addresses, since when an address may have been another account's, and whether vouchers count.
const ACCOUNTS = `
  with recursive ${HOMES},
  named as materialized (select u.id, u.email_folded from users u where u.id = any ($2)),
  found (id) as (
    select id from named
    union
    select u.id from homes s join users u on u.organization_id = s.id
    where $5 and (u.email_folded = any ($3) or u.email_folded in (select email_folded from named) or u.email_since >= $4::timestamptz)
    union
    select u.vouched_by from found join users u on u.id = found.id where $5 and starts_with(u.vouched_by, 'usr_'))
  select u.id, s.tenant_group as "tenantGroup", u.email_folded as "emailFolded", u.email_since as "addressSince",
    u.vouched_by as "vouchedBy"
  from found join users u on u.id = found.id left join homes s on s.id = u.organization_id`;

/**
 * Reads all that the rules of deciding ask about these requests and candidates.
 *
 * @param issuer `iss` of the identity provider; null where there is none
 */
export async function readEligibility(
  run: RunStatement, requests: readonly JudgedRequest[], { users, teams, admins, selves = false }: CandidateFilter, issuer: string | null,
): Promise<Eligibility> {
  const ids = [...new Set(requests.map(({ organizationId }) => organizationId))];
  const allTeams = [...new Set(requests.flatMap(({ agent: { teamId } }) => (teamId === undefined ? [] : [teamId])))];
  const [organizations, candidates, memberships] = await pipelined([
    run(ORGANIZATIONS, [ids]) as Promise<unknown> as Promise<OrganizationRow[]>,
    run(CANDIDATES, [ids, issuer, users, admins, teams]) as Promise<unknown> as Promise<CandidateRow[]>,
    run(MEMBERSHIPS, [ids, teams, users, allTeams]) as Promise<unknown> as Promise<MembershipRow[]>,
  ]);
  const settings = new Map(organizations.map((one) => [one.id, one.separationOfDuties]));
  const strict = requests.filter(({ organizationId, ties }) =>
    stricterOf(ties.separationOfDuties, settings.get(organizationId) ?? 'standard') === 'strict');
  const barred = strict.map(({ ties, agent }) => ({ ties, names: barredFrom(ties, agent, 'strict').map(({ name }) => foldPerson(name)) }));
  const vouchersCount = selves || strict.length > 0;
  const named = new Set([
    ...requests.flatMap(({ ties }) => ties.initiators),
    ...barred.flatMap(({ names }) => names),
    ...(vouchersCount ? candidates.map(({ userId }) => userId) : []),
  ]);
  const claimed = barred.filter(({ names }) => names.some(isAddress)).map(({ ties }) => ties.createdAt.getTime());
  const accounts = await run(ACCOUNTS, [
    ids, [...named].filter((name) => name.startsWith('usr_')), [...named].filter(isAddress),
    claimed.length > 0 ? new Date(Math.min(...claimed)) : null, vouchersCount,
  ]) as unknown as AccountRow[];
  return new Eligibility(organizations, candidates, memberships, accounts);
}
