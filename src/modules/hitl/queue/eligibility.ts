import {
  type AgentTies, barredFrom, foldPerson, isAddress, judgeDecider, type Membership, type Person, type RequestTies, type SeparationOfDuties,
  stricterOf,
} from '../../../domain/hitl/duties.js';
import { type EscalationLevel, HIGHEST_LEVEL } from '../../../domain/hitl/transition.js';
import { withNamesake } from './request-ties.js';

/** A request, or several that the rules of deciding cannot distinguish. */
export interface JudgedRequest {
  readonly organizationId: string;
  readonly ties: RequestTies;
  /** The agent's present ties. */
  readonly agent: AgentTies;
}

export interface OrganizationRow {
  readonly id: string;
  /** A tenant's organizations, or one without a tenant: accounts of one person are looked for there. */
  readonly tenantGroup: string;
  readonly separationOfDuties: SeparationOfDuties;
  /** The end of the time with two users or more; null where there was none, infinite while it lasts. */
  readonly companyUntil: Date | number | null;
}

/** An active account that may decide something in this organization, which need not be its own. */
export interface CandidateRow extends Omit<Person, 'kind' | 'email' | 'membership' | 'keySince'> {
  readonly organizationId: string;
  readonly emailFolded: string | null;
}

export interface MembershipRow extends Membership {
  readonly organizationId: string;
  readonly teamId: string;
  readonly userId: string;
}

/** An account that may be the same person as a candidate or as somebody behind an action. */
export interface AccountRow {
  readonly id: string;
  /** Null outside of the tenant groups of the organizations. */
  readonly tenantGroup: string | null;
  readonly emailFolded: string | null;
  readonly addressSince: Date;
  readonly vouchedBy: string | null;
}

/** Judges candidates by the rules of deciding (`duties.ts`), for many requests, from rows that were read once for all of them. */
export class Eligibility {
  private readonly organizations: ReadonlyMap<string, OrganizationRow>;
  private readonly candidates: ReadonlyMap<string, ReadonlyMap<string, CandidateRow>>;
  private readonly members: ReadonlyMap<string, ReadonlyMap<string, MembershipRow>>;
  private readonly accounts: ReadonlyMap<string, AccountRow>;
  /** Accounts of a tenant group by their address. */
  private readonly byAddress = new Map<string, AccountRow[]>();
  private readonly samePerson = new Map<string, readonly string[]>();

  constructor(
    organizations: readonly OrganizationRow[], candidates: readonly CandidateRow[], memberships: readonly MembershipRow[],
    accounts: readonly AccountRow[],
  ) {
    this.organizations = new Map(organizations.map((one) => [one.id, one]));
    this.candidates = byTwo(candidates, ({ organizationId }) => organizationId);
    this.members = byTwo(memberships, teamKey);
    this.accounts = new Map(accounts.map((one) => [one.id, one]));
    for (const one of accounts) {
      const key = `${one.tenantGroup} ${one.emailFolded}`;
      const others = this.byAddress.get(key);
      if (others) others.push(one);
      else this.byAddress.set(key, [one]);
    }
  }

  /** How many people are judged for a request of the organization. */
  candidatesIn(organizationId: string): number {
    return this.candidates.get(organizationId)?.size ?? 0;
  }

  /** The candidates who belong to the level: the agent's owner and team, its leads, or admins. */
  ofLevel({ organizationId, agent, ties }: JudgedRequest, level: EscalationLevel): string[] {
    const candidates = this.candidates.get(organizationId);
    if (candidates === undefined) return [];
    if (level === HIGHEST_LEVEL) return [...candidates.values()].filter(({ role }) => role !== 'member').map(({ userId }) => userId);
    const members = [...this.membersOf(organizationId, agent)].filter(([, { role }]) => level === 0 || role === 'lead');
    const owners = level === 0 ? ownersOf({ agent, ties }) : [];
    const ids = new Set([...owners, ...members.map(([id]) => id)]);
    return [...ids].filter((id) => candidates.has(id));
  }

  isOfLevel(userId: string, { organizationId, agent, ties }: JudgedRequest, level: EscalationLevel): boolean {
    if (level === HIGHEST_LEVEL) return this.isAdmin(userId, organizationId);
    const membership = this.membersOf(organizationId, agent).get(userId);
    return level === 0 ? membership !== undefined || ownersOf({ agent, ties }).includes(userId) : membership?.role === 'lead';
  }

  isAdmin(userId: string, organizationId: string): boolean {
    const candidate = this.candidates.get(organizationId)?.get(userId);
    return candidate !== undefined && candidate.role !== 'member';
  }

  /** All candidates who may approve the request at the level, without breaking the glass. */
  approversOf(request: JudgedRequest, level: EscalationLevel): CandidateRow[] {
    const candidates = this.candidates.get(request.organizationId)?.values() ?? [];
    return [...candidates].filter(({ userId }) => this.mayApprove(userId, request, level));
  }

  /** The user's teams, of those whose members were read. */
  teamsOf(userId: string, organizationId: string): string[] {
    return [...this.members.values()].flatMap((members) => {
      const membership = members.get(userId);
      return membership?.organizationId === organizationId ? [membership.teamId] : [];
    });
  }

  /** For each of these users, the accounts that count as one person with it; good where the vouchers were read. */
  selvesOf({ organizationId, ties }: JudgedRequest, userIds: readonly string[]): ReadonlyMap<string, readonly string[]> {
    const organization = this.organizations.get(organizationId);
    return organization === undefined ? NO_SELVES : this.selves(organization.tenantGroup, userIds, ties.createdAt);
  }

  /** Whether the user may approve the request at the level, without breaking the glass. */
  mayApprove(userId: string, { organizationId, ties, agent }: JudgedRequest, level: EscalationLevel): boolean {
    const candidate = this.candidates.get(organizationId)?.get(userId);
    const organization = this.organizations.get(organizationId);
    if (candidate === undefined || organization === undefined) return false;
    const { emailFolded, organizationId: _organization, ...account } = candidate;
    const membership = this.membersOf(organizationId, agent).get(userId);
    const decider: Person = {
      kind: 'person', ...account, ...(emailFolded === null ? {} : { email: emailFolded }), ...(membership ? { membership } : {}),
    };
    const { separationOfDuties, companyUntil, tenantGroup } = organization;
    const selves = stricterOf(ties.separationOfDuties, separationOfDuties) === 'strict'
      ? this.selves(tenantGroup, [userId, ...barredFrom(ties, agent, 'strict').map(({ name }) => name)], ties.createdAt)
      : NO_SELVES;
    const hasSingleUser = companyUntil === null || Number(companyUntil) <= ties.createdAt.getTime();
    const request = { ...withNamesake(ties, userId, this.isNamesake(candidate, ties)), level };
    const organizationTies = { separationOfDuties, hasSingleUser, selves };
    return judgeDecider({ decider, request, agent, organization: organizationTies, command: { kind: 'approve' } }).kind === 'may';
  }

  private membersOf(organizationId: string, { teamId }: AgentTies): ReadonlyMap<string, MembershipRow> {
    return (teamId === undefined ? undefined : this.members.get(teamKey({ organizationId, teamId }))) ?? NO_MEMBERS;
  }

  /** Whether the candidate has, or may have had since the request was made, the address of an initiator who is named by id. */
  private isNamesake({ emailFolded, addressSince }: CandidateRow, { initiators, createdAt }: RequestTies): boolean {
    return initiators.some((id) => {
      const account = this.accounts.get(id);
      if (account === undefined) return false;
      return (account.emailFolded !== null && account.emailFolded === emailFolded)
        || (account.addressSince >= createdAt && addressSince >= createdAt);
    });
  }

  /** For each name, the accounts of that name, those who vouched for them, and so on. */
  private selves(tenantGroup: string, names: readonly string[], createdAt: Date): ReadonlyMap<string, readonly string[]> {
    return new Map(names.map(foldPerson).map((name) => {
      // An address was claimed at the time of the request: accounts whose own was changed since may have had it.
      const key = `${tenantGroup} ${name} ${isAddress(name) ? createdAt.getTime() : ''}`;
      const known = this.samePerson.get(key) ?? this.findSelves(tenantGroup, name, createdAt);
      this.samePerson.set(key, known);
      return [name, known];
    }));
  }

  private findSelves(tenantGroup: string, name: string, createdAt: Date): readonly string[] {
    const own = this.accounts.get(name);
    const address = isAddress(name) ? name : own?.emailFolded;
    const found = new Set((address == null ? [] : this.byAddress.get(`${tenantGroup} ${address}`) ?? []).map(({ id }) => id));
    if (own?.tenantGroup === tenantGroup) found.add(name);
    if (isAddress(name)) {
      for (const one of this.accounts.values()) if (one.tenantGroup === tenantGroup && one.addressSince >= createdAt) found.add(one.id);
    }
    // A set that grows while it is read: it ends with the last voucher, also where people vouched for one another.
    for (const id of found) {
      const account = this.accounts.get(id);
      if (account?.tenantGroup === tenantGroup && account.vouchedBy?.startsWith('usr_')) found.add(account.vouchedBy);
    }
    return [...found];
  }
}

/** Who decides at level 0 beside the agent's team: its owner and, of a delegated task, the owner of the agent that had it first. */
export function ownersOf({ agent: { ownerId }, ties: { taskOwnerId } }: Pick<JudgedRequest, 'agent' | 'ties'>): string[] {
  return [ownerId, taskOwnerId].flatMap((id) => (id === undefined ? [] : [id]));
}

const NO_SELVES: ReadonlyMap<string, readonly string[]> = new Map();
const NO_MEMBERS: ReadonlyMap<string, MembershipRow> = new Map();

function teamKey({ organizationId, teamId }: { readonly organizationId: string; readonly teamId: string }): string {
  return `${organizationId} ${teamId}`;
}

function byTwo<Row extends { readonly userId: string }>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Map<string, Row>> {
  const found = new Map<string, Map<string, Row>>();
  for (const row of rows) {
    const key = keyOf(row);
    found.set(key, (found.get(key) ?? new Map<string, Row>()).set(row.userId, row));
  }
  return found;
}
