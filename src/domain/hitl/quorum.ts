import { ROLES, type Role } from '../access/access.js';

/** Roles whose holders may approve at all, so that a quorum can ask for one of them. */
export const GROUP_ROLES = ['owner', 'admin', 'member'] as const satisfies readonly Role[];
export type GroupRole = (typeof GROUP_ROLES)[number];

/** A group of which at least one member has to approve. */
export type QuorumGroup = { readonly teamId: string } | { readonly role: GroupRole };

/** How many distinct people have to approve, and who must be among them. */
export interface Quorum {
  readonly approvals: number;
  readonly groups?: readonly QuorumGroup[];
}

export const APPROVALS_MIN = 2;
export const APPROVALS_MAX = 10;
export const GROUPS_MAX = 10;

/** The stricter combination of two quorums: the one of the request's making and the present one of its grant. */
export function stricterQuorum(one: Quorum | null, other: Quorum | null): Quorum | null {
  if (!one || !other) return one ?? other;
  const groups = [...(one.groups ?? []), ...(other.groups ?? [])];
  const distinct = [...new Map(groups.map((group) => [groupKey(group), group])).values()];
  return { approvals: Math.max(one.approvals, other.approvals), ...(distinct.length === 0 ? {} : { groups: distinct }) };
}

export function groupKey(group: QuorumGroup): string {
  return 'teamId' in group ? `team ${group.teamId}` : `role ${group.role}`;
}

/** A person whose approval may be counted, with their present rights. */
export interface Approver {
  /** A user's id, or `root`. */
  readonly id: string;
  readonly role: Role | 'root';
  /** Teams of which the approver is a member. */
  readonly teamIds: readonly string[];
}

export interface Tally {
  /** Distinct people, up to the number that is needed. */
  readonly approvals: number;
  readonly needed: number;
  /** Groups of which no member has approved yet. */
  readonly missing: readonly QuorumGroup[];
  readonly met: boolean;
}

/**
 * Counts approvals: distinct people, and of each group at least one. A role is met by that role or a higher one. Root is one
 * person of the highest role and of no team.
 *
 * @param selves for an id: the accounts that count as one person with it. Of two whose lists share an account only one is counted.
 */
export function tally(quorum: Quorum, approvers: readonly Approver[], selves: ReadonlyMap<string, readonly string[]>): Tally {
  const people = [...new Set(approvers.map(({ id }) => id))].map((id) => new Set([id, ...(selves.get(id) ?? [])]));
  const approvals = countPeople(people, quorum.approvals);
  const missing = (quorum.groups ?? []).filter((group) => !approvers.some((approver) => isOf(approver, group)));
  return { approvals, needed: quorum.approvals, missing, met: approvals >= quorum.approvals && missing.length === 0 };
}

/** Whether two accounts count as one person. */
export function isSamePerson(one: string, other: string, selves: ReadonlyMap<string, readonly string[]>): boolean {
  const mine = [one, ...(selves.get(one) ?? [])];
  return [other, ...(selves.get(other) ?? [])].some((id) => mine.includes(id));
}

function shares(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return [...one].some((id) => other.has(id));
}

function isOf({ role, teamIds }: Approver, group: QuorumGroup): boolean {
  if ('teamId' in group) return teamIds.includes(group.teamId);
  return role === 'root' || ROLES.indexOf(role) >= ROLES.indexOf(group.role);
}

/**
 * How many people these are, up to the number wanted. Counted at once are those who share with nobody; of those who share the very same
 * accounts with others, as everybody whom one person vouched for, one is looked at for all.
 */
function countPeople(people: readonly ReadonlySet<string>[], wanted: number): number {
  const counts = new Map<string, number>();
  for (const one of people) for (const id of one) counts.set(id, (counts.get(id) ?? 0) + 1);
  const sharing = people.map((one) => [...one].filter((id) => counts.get(id)! > 1).sort()).filter((ids) => ids.length > 0);
  const alone = people.length - sharing.length;
  const distinct = [...new Map(sharing.map((ids) => [ids.join(' '), new Set(ids)])).values()];
  return Math.min(wanted, alone + distinctPeople(distinct, wanted - alone));
}

/**
 * The size of the largest set of people of whom no two share an account, up to the number wanted: so another approval never lowers it,
 * and the order does not matter. The person who shares with the fewest is tried first; where those all share with one another (accounts
 * of one tree of invitations do), that choice is already the best.
 */
function distinctPeople(people: readonly ReadonlySet<string>[], wanted: number): number {
  if (wanted <= 0 || people.length === 0) return 0;
  const sharing = people.map((one) => [one, ...people.filter((other) => other !== one && shares(one, other))]);
  const fewest = sharing.reduce((least, some) => (some.length < least.length ? some : least));
  const isOnePerson = fewest.every((one) => fewest.every((other) => shares(one, other)));
  let best = 0;
  for (const one of isOnePerson ? fewest.slice(0, 1) : fewest) {
    best = Math.max(best, 1 + distinctPeople(people.filter((other) => !shares(one, other)), wanted - 1));
    if (best >= wanted) return best;
  }
  return best;
}
