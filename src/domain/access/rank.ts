import { ROLES, type Role, reachOf } from './access.js';

/** Who changes people: root, or a person with the role of this moment. */
export type Actor = { readonly kind: 'root' } | { readonly kind: 'user'; readonly userId: string; readonly role: Role };

export interface Account {
  readonly id: string;
  readonly role: Role;
}

/** What may become of an account: a role, or its end. */
export type RoleAfter = Role | 'closed';

export type RankRefusal = 'above_own' | 'own_role' | 'gives_above_own' | 'not_own_keys' | 'key_of_another';

/** Rank rules of people: all are about roles and identity alone, so they apply however somebody signs in. */
const rank = (role: Role): number => ROLES.indexOf(role);
const isAbove = (role: Role, actor: Actor): boolean => actor.kind === 'user' && rank(role) > rank(actor.role);
const isSelf = (account: Account, actor: Actor): boolean => actor.kind === 'user' && actor.userId === account.id;

/** The weaker of two roles. */
export function lowerOf(one: Role, other: Role): Role {
  return rank(one) < rank(other) ? one : other;
}

/** Whether an account of this role may be made, or somebody invited to it. */
export function refusalToMake(actor: Actor, role: Role): RankRefusal | undefined {
  return isAbove(role, actor) ? 'gives_above_own' : undefined;
}

/**
 * Whether an account may be edited, and given this role. The role that it has already is no change, so that a client may
 * send back what it has read.
 */
export function refusalToChange(actor: Actor, account: Account, role: Role = account.role): RankRefusal | undefined {
  if (isAbove(account.role, actor)) return 'above_own';
  if (role === account.role) return undefined;
  if (isSelf(account, actor)) return 'own_role';
  return isAbove(role, actor) ? 'gives_above_own' : undefined;
}

/** Whether an account may be closed or erased. One's own may: whether somebody stays is `leavesNoOwner`'s question. */
export function refusalToClose(actor: Actor, account: Account): RankRefusal | undefined {
  return isAbove(account.role, actor) ? 'above_own' : undefined;
}

/** Whether a personal key may be made for an account: everybody their own; root another's, or nobody would ever come in. */
export function refusalToMakeKey(actor: Actor, account: Account): RankRefusal | undefined {
  return actor.kind === 'root' || isSelf(account, actor) ? undefined : 'key_of_another';
}

/** Whether an account's keys may be listed and revoked. */
export function refusalToManageKeys(actor: Actor, account: Account): RankRefusal | undefined {
  if (actor.kind === 'root' || isSelf(account, actor)) return undefined;
  if (reachOf('keys.manage', actor.role) !== 'all') return 'not_own_keys';
  return isAbove(account.role, actor) ? 'above_own' : undefined;
}

/**
 * Whether an organization would be left without an owner. One that never had one is no concern of this rule: it is
 * about the owner that goes.
 *
 * @param others active owners besides this account, counted under the lock of the organization's chain
 */
export function leavesNoOwner(account: Account, after: RoleAfter, others: number): boolean {
  return account.role === 'owner' && after !== 'owner' && others === 0;
}
