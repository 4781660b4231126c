import { Problem } from '../../../../platform/http/reply/problem.js';
import type { AccountRefusal, RefusedAccount } from '../../ports/provider-accounts.js';

const WORDS: Readonly<Record<AccountRefusal, string>> = {
  another_user: 'the provider names another account',
  closed: 'the account is closed',
  foreign_tenant: 'The identity provider names another tenant than that of your account.',
  unknown_tenant: 'The identity provider names no tenant that is known here.',
  not_invited: 'You have no account here. Ask an administrator for an invitation.',
  unverified: 'You were invited, but the identity provider has not verified your e-mail address.',
  several: 'You were invited by more than one customer of this service, and the identity provider does not say whose you are. It has to '
    + 'name the tenant, or all invitations but one have to be withdrawn.',
  taken: 'There is an account with your e-mail address already. Ask an administrator for an invitation to it.',
  tier: 'The subscription includes no more people.',
};

/** Whether the credential itself does not hold, rather than that its user may not come in. */
export function isNoCredential({ refused }: RefusedAccount): boolean {
  return refused === 'another_user' || refused === 'closed';
}

/** Why, where the credential does not hold. */
export function reasonOf({ refused }: RefusedAccount): string {
  return WORDS[refused];
}

/** The answer to one who comes without an account. */
export function accountProblem(account: RefusedAccount): Problem {
  if (account.problem !== undefined) return account.problem;
  if (isNoCredential(account)) return new Problem('UNAUTHENTICATED', `This credential does not hold: ${WORDS[account.refused]}.`);
  return new Problem('FORBIDDEN', WORDS[account.refused]);
}
