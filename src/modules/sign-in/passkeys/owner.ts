import type { Caller, UserPrincipal } from '../../../platform/auth/principal.js';
import { Problem } from '../../../platform/http/problem.js';
import type { UserPlace } from '../../organizations/user.store.js';

/** @throws Problem FORBIDDEN for who is no person: the access table lets none of them here */
export function personOf({ principal }: Pick<Caller, 'principal'>): UserPrincipal {
  if (principal.kind !== 'user') throw new Problem('FORBIDDEN', 'Only people have ways to sign in.');
  return principal;
}

export function placeOf(caller: Pick<Caller, 'principal'>): UserPlace {
  const { organizationId, userId } = personOf(caller);
  return { organizationId, id: userId };
}
