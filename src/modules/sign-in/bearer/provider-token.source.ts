import { Inject, Injectable } from '@nestjs/common';
import type { Role } from '../../../domain/access/access.js';
import { lowerOf } from '../../../domain/access/rank.js';
import type { PresentedCredentials } from '../../../platform/auth/credentials/bearer.js';
import {
  ABSENT, type CredentialSource, CredentialSources, type Presented, type PresentOptions, type RunStatement,
} from '../../../platform/auth/credentials/credential-source.js';
import { isByPublicKey } from '../../../platform/auth/credentials/jwt-parts.js';
import type { Principal } from '../../../platform/auth/access/principal.js';
import { scopeOfOrganization, scopeOfOrganizations } from '../../../platform/auth/access/scope.js';
import { requestContext } from '../../../platform/http/request/request-context.js';
import { AddressLimit } from '../../../platform/rate-limit/address-limit.js';
import { accountProblem, isNoCredential, reasonOf } from '../provider/accounts/account-refusals.js';
import { type ProviderAccount, ProviderAccounts, type RefusedAccount } from '../ports/provider-accounts.js';
import { ProviderClient } from '../ports/provider-client.js';

const UNKNOWN = 'the account is closed, or not linked to the identity provider any more';

const COMPARE = `
  select u.role, u.status, i.claimed_role, i.has_subscription
  from users u join user_identities i on i.organization_id = u.organization_id and i.user_id = u.id and i.issuer = $3
  where u.organization_id = $1 and u.id = $2`;

/**
 * Tokens of the identity provider as credentials of people: who it is, the token says; what they may, the record, and of that no more
 * than the token leaves.
 */
@Injectable()
export class ProviderTokenSource implements CredentialSource {
  readonly kind = 'user';
  readonly credential = 'token';

  constructor(
    @Inject(CredentialSources) sources: CredentialSources,
    private readonly provider: ProviderClient,
    private readonly accounts: ProviderAccounts,
    private readonly addresses: AddressLimit,
  ) {
    if (provider.issuer !== undefined) sources.register(this);
  }

  present({ bearer }: PresentedCredentials, { isWaiting }: PresentOptions = {}): Promise<Presented> | Presented {
    if (bearer === undefined || !isByPublicKey(bearer)) return ABSENT;
    return this.judge(bearer, isWaiting === true);
  }

  async stillHolds(principal: Principal, run: RunStatement): Promise<string | undefined> {
    if (principal.kind !== 'user' || principal.credential.kind !== 'token') return 'not a token of the identity provider';
    const { organizationId, userId, role, claimedRole, hasSubscription } = principal;
    const [row] = await run(COMPARE, [organizationId, userId, this.provider.issuer]);
    if (!row || row['status'] !== 'active') return UNKNOWN;
    // A newer token may have taken away meanwhile what this one says.
    const caps = [claimedRole, (row['claimed_role'] ?? undefined) as Role | undefined].filter((cap) => cap !== undefined);
    if (caps.reduce(lowerOf, row['role'] as Role) !== role) return 'the role has changed meanwhile';
    return row['has_subscription'] === false && hasSubscription !== false ? 'the subscription has changed meanwhile' : undefined;
  }

  /**
   * @throws Problem FORBIDDEN, TIER_REQUIRED for a genuine token of somebody who may not come in; UNAVAILABLE while the provider's keys
   *   are not to be had
   */
  private async judge(bearer: string, isWaiting: boolean): Promise<Presented> {
    const result = await this.provider.verify(bearer);
    if (!result.ok) return { kind: 'invalid', reason: result.reason };
    const issuer = this.provider.issuer!;
    // A caller who keeps a stream open has an account, or had one.
    const { claims } = result;
    const account = await (isWaiting ? this.accounts.find(issuer, claims) : this.accounts.orMake(issuer, claims, 'credential'));
    if (account === undefined) return { kind: 'invalid', reason: UNKNOWN };
    return 'refused' in account ? this.refuse(account, isWaiting) : verified(account);
  }

  /** A refused user's call counts against the address like one with a bad credential, since it cost a question to the database, too. */
  private async refuse(account: RefusedAccount, isWaiting: boolean): Promise<Presented> {
    if (isNoCredential(account)) return { kind: 'invalid', reason: reasonOf(account) };
    if (!isWaiting) await this.addresses.takeFrom(requestContext.getStore()?.address);
    throw accountProblem(account);
  }
}

function verified({ person, reached }: ProviderAccount): Presented {
  const { organizationId, userId } = person;
  const scope = reached.length === 0 ? scopeOfOrganization(organizationId) : scopeOfOrganizations(organizationId, reached);
  return { kind: 'verified', caller: { principal: { ...person, credential: { kind: 'token' } }, scope, actorId: userId }, fresh: true };
}
