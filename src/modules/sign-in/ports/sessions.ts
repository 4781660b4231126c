import type { Tx } from '../../../platform/database/transaction/tx.js';
import type { UserRef } from '../../organizations/users/user.store.js';

/** By which way somebody came in. */
export const SESSION_METHODS = ['provider', 'passkey', 'password'] as const;
export type SessionMethod = (typeof SESSION_METHODS)[number];

/** Why a session ended: the codes of `auth.logout`, and of the column `end_reason`. */
export const SESSION_ENDS = [
  'asked', 'revoked', 'idle', 'expired', 'role_lost', 'closed', 'erased', 'provider', 'provider_refused', 'replaced', 'recovered',
] as const;
export type SessionEndReason = (typeof SESSION_ENDS)[number];

/** Tokens of the identity provider, kept sealed with the session. */
export interface ProviderTokens {
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly idToken: string;
}

/** Of a session that the identity provider vouched for. */
export interface ProviderSession {
  readonly issuer: string;
  /** The provider's own session, by which it can end ours. Kept as a digest. */
  readonly sid?: string;
  readonly tokens: ProviderTokens;
  /** When the tokens are renewed; absent where they cannot be. */
  readonly renewAt?: Date;
}

export interface SessionStart {
  readonly method: SessionMethod;
  /** The header `User-Agent`, as it came. */
  readonly agent?: string | undefined;
  readonly address?: string | undefined;
  readonly provider?: ProviderSession | undefined;
}

/** Where a session stands. */
export interface SessionRef {
  readonly organizationId: string;
  readonly id: string;
}

export interface BegunSession {
  readonly id: string;
  /** The line `Set-Cookie` that lets its browser in. It is shown once: only a digest of it is kept. */
  readonly cookie: string;
}

/** Begins and ends sessions. Both are recorded, as `auth.login` and `auth.logout`, in the unit of work that is given. */
export abstract class Sessions {
  /** Called after the organization's head is locked and the account is read: changes that end accounts or roles wait at that head. */
  abstract begin(tx: Tx, user: UserRef, start: SessionStart): Promise<BegunSession>;

  /**
   * For a work that holds the heads of their organizations. Those that have ended already are left as they are.
   *
   * @param by the actor: who asked, or `system`
   * @returns how many ended now
   */
  abstract end(tx: Tx, sessions: readonly SessionRef[], reason: SessionEndReason, by: string): Promise<number>;
}
