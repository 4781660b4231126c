import { Problem } from '../../../platform/http/problem.js';
import type { AccountRefusal, RefusedAccount } from '../seams/provider-accounts.js';

const REFUSALS: Readonly<Record<AccountRefusal, () => Problem>> = {
  another_user: () => new Problem('UNAUTHENTICATED', 'The identity provider names another account of this service than yours.'),
  closed: () => new Problem('UNAUTHENTICATED', 'Your account here is closed.'),
  foreign_tenant: () => new Problem('FORBIDDEN', 'The identity provider names another organization than that of your account.'),
  unknown_tenant: () => new Problem('FORBIDDEN', 'Nobody here knows the organization that the identity provider names for you.'),
  not_invited: () => new Problem('FORBIDDEN', 'You have no account here yet. Ask an administrator to invite you.'),
  unverified: () => new Problem('FORBIDDEN', 'Your e-mail address is not verified at the identity provider, so no account can be found by it.'),
  taken: () => new Problem('FORBIDDEN', 'Another account of the organization has your e-mail address. Ask an administrator to invite you.'),
  tier: () => new Problem('TIER_REQUIRED', 'The subscription of the organization includes no further people.'),
};

/** Why somebody whom the provider vouches for does not come in, as they are told. */
export function refusedAccount({ refused, problem }: RefusedAccount): Problem {
  return problem ?? REFUSALS[refused]();
}
