import type { Role } from '../../../domain/access/access.js';

/** What the provider says of a person, as their principal bears it. */
export interface ClaimedRights {
  readonly claimedRole?: Role;
  readonly claimedSince?: Date;
  readonly hasSubscription?: boolean;
}

/** From a row with the columns of `user_identities`, each of them null where nothing is said. */
export function claimedIn(row: Record<string, unknown>): ClaimedRights {
  const role = row.claimed_role as Role | null;
  const subscription = row.has_subscription as boolean | null;
  return {
    ...(role === null ? {} : { claimedRole: role }),
    ...(role === null || row.claimed_role_since === undefined ? {} : { claimedSince: row.claimed_role_since as Date }),
    ...(subscription === null ? {} : { hasSubscription: subscription }),
  };
}
