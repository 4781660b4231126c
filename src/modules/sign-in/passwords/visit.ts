import type { Caller } from '../../../platform/auth/principal.js';
import type { UserPlace } from '../../organizations/user.store.js';
import type { BegunSession, SessionPlace } from '../seams/sessions.js';

/** The browser that somebody comes in by. */
export interface Visit {
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
  readonly user: UserPlace;
  readonly session: BegunSession;
}

/** The session that a new one takes the place of. */
export function replacedBy({ replaces }: Visit): SessionPlace | undefined {
  const principal = replaces?.principal;
  if (principal?.kind !== 'user' || principal.credential.kind !== 'session') return undefined;
  return { organizationId: principal.organizationId, id: principal.credential.id };
}
