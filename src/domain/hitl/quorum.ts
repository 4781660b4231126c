import type { Role } from '../access/access.js';

/** Roles whose holders may approve at all, so that a quorum can ask for one of them. */
export const GROUP_ROLES = ['owner', 'admin', 'member'] as const satisfies readonly Role[];
export type GroupRole = (typeof GROUP_ROLES)[number];

/** Of whom at least one has to be among those who approve. */
export type QuorumGroup = { readonly teamId: string } | { readonly role: GroupRole };

/** How many distinct people have to approve, and who must be among them. */
export interface Quorum {
  readonly approvals: number;
  readonly groups?: readonly QuorumGroup[];
}

export const APPROVALS_MIN = 2;
export const APPROVALS_MAX = 10;
export const GROUPS_MAX = 10;

/** What holds of two quorums, the one that is frozen in a request and the one of its grant now: neither is loosened. */
export function stricterQuorum(one: Quorum | null, other: Quorum | null): Quorum | null {
  if (!one || !other) return one ?? other;
  const groups = [...(one.groups ?? []), ...(other.groups ?? [])];
  const distinct = [...new Map(groups.map((group) => [groupKey(group), group])).values()];
  return { approvals: Math.max(one.approvals, other.approvals), ...(distinct.length === 0 ? {} : { groups: distinct }) };
}

export function groupKey(group: QuorumGroup): string {
  return 'teamId' in group ? `team ${group.teamId}` : `role ${group.role}`;
}
