import type { Caller } from '../../../platform/auth/access/principal.js';
import type { UserRef } from '../../organizations/users/user.store.js';
import type { BegunSession, SessionRef } from './sessions.js';

/** The browser that somebody comes in by. */
export interface SignInContext {
  /** The header `User-Agent`, as it came. */
  readonly agent?: string | undefined;
  /** In its canonical spelling. */
  readonly address?: string | undefined;
  /** Whose session came along, if it still holds: it ends, for a browser has one. */
  readonly replaces?: Caller | undefined;
}

/** Somebody came in. */
export interface SignedIn {
  readonly kind: 'signed_in';
  readonly user: UserRef;
  readonly session: BegunSession;
}

/** The session that a new one replaces. */
export function replacedBy({ replaces }: SignInContext): SessionRef | undefined {
  const principal = replaces?.principal;
  if (principal?.kind !== 'user' || principal.credential.kind !== 'session') return undefined;
  return { organizationId: principal.organizationId, id: principal.credential.id };
}
