import { Inject, Injectable } from '@nestjs/common';
import type { Role } from '../../domain/access/access.js';
import { lowerOf } from '../../domain/access/rank.js';
import type { AccountHome } from '../../domain/audit/catalogue/basis.js';
import { type ChainRef, organizationChain } from '../../domain/audit/entry/chain.js';
import { foldPerson, type Membership, type Person } from '../../domain/hitl/duties.js';
import type { UserPrincipal } from '../../platform/auth/access/principal.js';
import { CONFIG, type CompleteConfig } from '../../platform/config/config.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { joinProviderClaims } from '../sign-in/ports/provider-claims.query.js';

/** About which agents, and since which time, people are asked. */
export interface DeciderWanted {
  organizationId: string;
  /** The agent's team of now. */
  teamId?: string;
  /** When the request was made. */
  since: Date;
  /** Users behind the action, by id. */
  initiators: readonly string[];
  /** Only memberships that are older than this are returned. */
  teamsBefore?: Date;
}

/** A person who decides, and their relation to a request. */
export interface DeciderContext {
  person: Person;
  /** Nobody else could have decided since the request was made. */
  hasSingleUser: boolean;
  /** Has, or may have had, the address of somebody behind the action. */
  isNamesake: boolean;
  /** Their teams here. */
  teamIds: readonly string[];
  /** Up to where the account was read. */
  home: AccountHome;
}

interface Row {
  id: string;
  home: string;
  home_position: string | null;
  email: string | null;
  role: Role;
  role_since: Date;
  created_at: Date;
  email_since: Date;
  member_role: Membership['role'] | null;
  member_since: Date;
  member_role_since: Date;
  company: number;
  namesake: boolean;
  teams: string[];
}

// An owner acts in every organization of their tenant, so people are looked for there.
const TENANT_GROUP = `
  tenant_group as (
    select $1::text as id
    union select other.id from organizations here join organizations other on other.tenant_id = here.tenant_id where here.id = $1)`;

// Somebody named by id has the addresses of then and now: where they have changed theirs since the request was made, whoever came by
// an address since may have got the old one.
const PERSON = `
  with ${TENANT_GROUP}
  select u.id, u.organization_id as home, u.email, may.role, may.role_since, u.created_at, u.email_since,
    m.role as member_role, m.since as member_since, m.role_since as member_role_since,
    (select h.seq from audit_heads h where h.organization_id = u.organization_id and h.chain = 'sys_' || u.organization_id)
      as home_position,
    (select count(*)::integer from users c
     where (c.organization_id = $1 or (c.role = 'owner' and c.organization_id in (select id from tenant_group)))
       and (c.ended_at is null or c.ended_at > $3)) as company,
    exists (select from users i where i.id = any ($4)
      and (i.email_folded = u.email_folded or (i.email_since >= $3 and u.email_since >= $3))) as namesake,
    array(select t.team_id from team_members t where t.organization_id = $1 and t.user_id = u.id
      and ($5::timestamptz is null or t.since < $5)) as teams
  from users u left join team_members m on m.organization_id = $1 and m.team_id = $2 and m.user_id = u.id
  ${joinProviderClaims('u', '$6')}`;

const ONE = `${PERSON} where u.organization_id = $7 and u.id = $8`;

// Locked, since some may have their account in another organization of the tenant, whose barrier this work has not joined: a
// change that takes their rights away waits until this work has ended.
const THOSE_WHO_STILL_DECIDE = `${PERSON}
  where u.id = any ($7) and u.status = 'active'
    and (u.organization_id = $1 or (may.role = 'owner' and u.organization_id in (select id from tenant_group)))
  order by u.id for share of u`;

// An address was claimed by the accounts of the time when the request was made: an account whose own was changed since may have had it.
// `union` ends a circle of people who vouched for one another. Root, who is nobody's colleague, is no link between people.
const SELVES = `
  with recursive ${TENANT_GROUP},
  up (name, id) as (
    select n.name, u.id from unnest($2::text[]) as n(name)
    join users u on u.organization_id in (select id from tenant_group)
      and (u.id = n.name or u.email_folded = n.name or (n.name like '%@%' and u.email_since >= $3)
        or u.email_folded = (select i.email_folded from users i where i.id = n.name))
    union
    select up.name, u.vouched_by from up join users u on u.id = up.id and u.organization_id in (select id from tenant_group)
    where $4 and starts_with(u.vouched_by, 'usr_'))
  select name, array_agg(id) as ids from up group by name`;

/** What the rules of deciding ask about people, inside a unit of work that judges by the organization. No tables of its own. */
@Injectable()
export class DeciderQuery {
  constructor(@Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'oidcIssuer'>) {}

  /** Claims of the identity provider lower a person's role, from the time of the claim on. */
  async read(tx: Tx, { userId, organizationId: home, ...shown }: UserPrincipal, wanted: DeciderWanted): Promise<DeciderContext> {
    // The unit of work has just found this account alive, and rows of people are never deleted.
    const [row] = await tx.query<Row>(ONE, [...this.parametersOf(wanted), home, userId]);
    const { role, claimedSince, credential } = shown;
    const { role: recorded, role_since: since } = row!;
    const capped = { ...row!, role: lowerOf(recorded, role), role_since: claimedSince && claimedSince > since ? claimedSince : since };
    return contextOf(capped, credential.kind === 'key' || credential.kind === 'chat' ? credential.createdAt : undefined);
  }

  /** Of several users: those whose account is open and reaches here, with the rights of now; by their ids. */
  async readAll(tx: Tx, userIds: readonly string[], wanted: DeciderWanted): Promise<Map<string, DeciderContext>> {
    const rows = await tx.query<Row>(THOSE_WHO_STILL_DECIDE, [...this.parametersOf(wanted), userIds]);
    const positions = await this.positionsBehindLocks(tx, rows.filter(({ home }) => home !== wanted.organizationId));
    return new Map(rows.map((row) => [row.id, contextOf({ ...row, home_position: positions.get(row.home) ?? row.home_position })]));
  }

  /**
   * For each name (a user's id, or an address): the users of that name, which are the accounts of that address, and with
   * `vouchers` those who vouched for them, and so on.
   */
  async selves(
    tx: Tx,
    organizationId: string,
    names: readonly string[],
    since: Date,
    vouchers = true,
  ): Promise<Map<string, readonly string[]>> {
    const folded = [...new Set(names.map(foldPerson))];
    const rows = await tx.query<{ name: string; ids: string[] }>(SELVES, [organizationId, folded, since, vouchers]);
    return new Map(rows.map(({ name, ids }) => [name, ids]));
  }

  /**
   * Where a lock of an account in another organization was waited for, the account is read as it was after the wait, and the position
   * as it was before: so positions are read once more.
   */
  private async positionsBehindLocks(tx: Tx, rows: readonly Row[]): Promise<Map<string, string>> {
    if (rows.length === 0) return new Map();
    const chains = rows.map(({ home }): ChainRef => organizationChain(home));
    const heads = await tx.query<{ home: string; seq: string }>(
      `select organization_id as home, seq from audit_heads
       where (organization_id, chain) in (select * from unnest($1::text[], $2::text[]))`,
      [chains.map(({ organizationId }) => organizationId), chains.map(({ chain }) => chain)],
    );
    return new Map(heads.map(({ home, seq }) => [home, seq]));
  }

  private parametersOf({ organizationId, teamId, since, initiators, teamsBefore }: DeciderWanted): unknown[] {
    return [organizationId, teamId ?? null, since, initiators, teamsBefore ?? null, this.config.oidcIssuer ?? null];
  }
}

function contextOf(row: Row, keySince?: Date): DeciderContext {
  const person: Person = {
    kind: 'person',
    userId: row.id,
    role: row.role,
    accountSince: row.created_at,
    addressSince: row.email_since,
    roleSince: row.role_since,
    ...(keySince ? { keySince } : {}),
    ...(row.email === null ? {} : { email: row.email }),
    ...(row.member_role === null
      ? {}
      : { membership: { role: row.member_role, since: row.member_since, roleSince: row.member_role_since } }),
  };
  const home = { organization: row.home, position: Number(row.home_position) };
  return { person, hasSingleUser: row.company <= 1, isNamesake: row.namesake, teamIds: row.teams, home };
}
