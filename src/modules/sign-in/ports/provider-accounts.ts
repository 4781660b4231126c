import type { Claims } from '../../../domain/access/claims.js';
import type { UserPrincipal } from '../../../platform/auth/access/principal.js';
import type { Problem } from '../../../platform/http/reply/problem.js';

/** An account as the provider's user comes in by it: without saying by which credential. */
export interface ProviderAccount {
  readonly person: Omit<UserPrincipal, 'credential'>;
  /** What an owner reaches besides; otherwise the account's own organization alone. */
  readonly reached: readonly string[];
}

/**
 * Why there is no account for a provider's user. 401: `another_user`, `closed`; 403: all others. `unverified` and `taken` are about the
 * address, `tier` about the subscription, `several` about invitations of which nobody can say which one is meant.
 */
export type AccountRefusal =
  | 'another_user' | 'closed' | 'foreign_tenant' | 'unknown_tenant' | 'not_invited' | 'unverified' | 'several' | 'taken' | 'tier';

/** No account; where the subscription is why, with the answer that says which one it would take. */
export interface RefusedAccount {
  readonly refused: AccountRefusal;
  readonly problem?: Problem;
}

/**
 * What the claims are from. An id token, or the provider's answer about a user, has all claims: a role that is missing there is claimed no
 * longer. A token that is used as a credential may leave claims out, and then the last known ones count.
 */
export type ClaimsFrom = 'sign-in' | 'credential';

/** Whose account a provider's user has, and how they come to one. A user is an issuer and a subject; nothing else finds them. */
export abstract class ProviderAccounts {
  /** @returns undefined for one whom nobody knows yet */
  abstract find(issuer: string, claims: Claims): Promise<ProviderAccount | RefusedAccount | undefined>;

  /**
   * The same, and for one whom nobody knows: bound to an account by an open invitation and a verified address, or made at first sight
   * where OIDC_JIT allows it. One whose account is closed comes to another by an invitation, and by nothing else. Newer claims replace the
   * known ones. In a unit of work of its own, by the actor `system`, outside of the present call's
   * credential and idempotency key; of many first calls at once one makes the account.
   */
  abstract orMake(issuer: string, claims: Claims, from: ClaimsFrom): Promise<ProviderAccount | RefusedAccount>;
}
