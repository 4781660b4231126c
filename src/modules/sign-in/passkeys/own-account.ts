import type { Caller, UserPrincipal } from '../../../platform/auth/access/principal.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { UserRef } from '../../organizations/users/user.store.js';

/** @throws Problem FORBIDDEN for who is no person: the access table lets none of them here */
export function personOf({ principal }: Pick<Caller, 'principal'>): UserPrincipal {
  if (principal.kind !== 'user') throw new Problem('FORBIDDEN', 'Only people have ways to sign in.');
  return principal;
}

export function userRefOf(caller: Pick<Caller, 'principal'>): UserRef {
  const { organizationId, userId } = personOf(caller);
  return { organizationId, id: userId };
}
