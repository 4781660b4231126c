import { type Role } from './access.js';
import { lowerOf } from './rank.js';

/** How long an invitation is good for, in milliseconds (contract: 72 h). */
export const INVITATION_MS = 72 * 3_600_000;

/** By mail it goes to its address only; by hand the inviter gets the link. */
export type Delivery = 'mail' | 'hand';

/** The inviter, as they are when the invitation is judged. */
export type Inviter = { readonly kind: 'root' } | {
  readonly kind: 'person';
  readonly isActive: boolean;
  /** What counts: the lower of the record's and the claimed one. */
  readonly role: Role;
  /** Whether the organization is one that they reach. */
  readonly reaches: boolean;
};

/** The account that is there already, where there is one. */
export interface InvitedAccount {
  readonly isActive: boolean;
  readonly role: Role;
  /** Whether its address is still the one that was invited. */
  readonly hasAddress: boolean;
  /** Whether its owner has another way to come in: a provider, a passkey, a password, a personal key. */
  readonly canSignIn: boolean;
  /** Whether its address is the one that it was made with. */
  readonly keptAddress: boolean;
}

export type InvitationFlaw = 'inviter_gone' | 'inviter_lowered' | 'account_changed' | 'link_to_a_colleague';

export interface JudgedInvitation {
  readonly role: Role;
  readonly delivery: Delivery;
}

/**
 * Why an invitation is not valid; undefined where it is. Judged when it is made and again when it is accepted, up to three days later:
 * inviters give no more rights than they have at that moment.
 */
export function invitationFlaw(
  { role, delivery }: JudgedInvitation, inviter: Inviter, account?: InvitedAccount,
): InvitationFlaw | undefined {
  if (account && !(account.isActive && account.hasAddress)) return 'account_changed';
  if (inviter.kind === 'root') return undefined;
  if (!inviter.isActive || !inviter.reaches) return 'inviter_gone';
  const given = account?.role ?? role;
  const isAdministrator = lowerOf(inviter.role, 'admin') === 'admin';
  if (!isAdministrator || lowerOf(given, inviter.role) !== given) return 'inviter_lowered';
  // The link signs its holder in as the account's owner: an administrator could sign in as a colleague, by a link in hand, or by mail to
  // an address that the administrator has put into the account.
  const isTheirs = delivery === 'mail' && account?.keptAddress !== false;
  return account?.canSignIn === true && !isTheirs ? 'link_to_a_colleague' : undefined;
}
