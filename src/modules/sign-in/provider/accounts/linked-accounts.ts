import { Inject, Injectable } from '@nestjs/common';
import type { Claims } from '../../../../domain/access/claims.js';
import { organizationChain } from '../../../../domain/audit/entry/chain.js';
import { asServiceOnArrival } from '../../../../platform/auth/access/call-context.js';
import { UnitOfWork } from '../../../../platform/database/transaction/unit-of-work.js';
import {
  type ClaimsFrom, type ProviderAccount, ProviderAccounts, type RefusedAccount,
} from '../../ports/provider-accounts.js';
import { IdentityStore } from './identity.store.js';
import { accountOf, claimsAfter } from './known-account.js';
import { NewProviderAccounts } from './new-provider-accounts.js';
import { type IdentityRow, ProviderPeopleQuery } from './provider-people.query.js';

/** Whose account a provider's user has, by the link between the two. */
@Injectable()
export class LinkedAccounts extends ProviderAccounts {
  /** By who and what is claimed: of many first calls at once each server makes one. */
  private readonly making = new Map<string, Promise<RefusedAccount | undefined>>();

  constructor(
    private readonly people: ProviderPeopleQuery,
    private readonly identities: IdentityStore,
    private readonly newcomers: NewProviderAccounts,
    @Inject(UnitOfWork) private readonly work: UnitOfWork,
  ) {
    super();
  }

  async find(issuer: string, claims: Claims): Promise<ProviderAccount | RefusedAccount | undefined> {
    const row = await this.people.find(issuer, claims.sub);
    return row && accountOf(row, claims);
  }

  async orMake(issuer: string, claims: Claims, from: ClaimsFrom): Promise<ProviderAccount | RefusedAccount> {
    let row = await this.people.find(issuer, claims.sub);
    if (row === undefined || row.status !== 'active') {
      const refused = await this.makeOnce(issuer, claims, row);
      if (refused !== undefined) return refused;
      row = await this.people.find(issuer, claims.sub);
      // Made a moment ago, and closed and erased since.
      if (row === undefined) return { refused: 'closed' };
    }
    const account = accountOf(row, claims);
    if ('refused' in account || !(await this.follow(issuer, row, claims, from))) return account;
    const changed = await this.people.find(issuer, claims.sub);
    return changed === undefined ? { refused: 'closed' } : accountOf(changed, claims);
  }

  /** @param closed the account that they had */
  private async makeOnce(issuer: string, claims: Claims, closed?: IdentityRow): Promise<RefusedAccount | undefined> {
    const { issuedAt: _at, ...who } = claims;
    const key = JSON.stringify([issuer, who, closed?.userId]);
    const running = this.making.get(key) ?? this.make(issuer, claims, closed).finally(() => this.making.delete(key));
    this.making.set(key, running);
    return running;
  }

  private make(issuer: string, claims: Claims, closed: IdentityRow | undefined): Promise<RefusedAccount | undefined> {
    if (closed === undefined) return this.newcomers.make(issuer, claims);
    return this.newcomers.makeAnew(issuer, claims, { organizationId: closed.organizationId, id: closed.userId });
  }

  /** Takes note of what the provider says now, where it is newer. @returns whether anything is otherwise than it was read */
  private async follow(issuer: string, row: IdentityRow, claims: Claims, from: ClaimsFrom): Promise<boolean> {
    const known = { role: row.claimedRole, hasSubscription: row.hasSubscription, at: row.claimsAt };
    if (claimsAfter(known, claims, from) === undefined) return false;
    const ref = { organizationId: row.organizationId, id: row.userId };
    const chain = organizationChain(row.organizationId);
    return asServiceOnArrival(() => this.work.run({ chains: [chain], leavesFacts: true }, async (tx) => {
      const before = await this.identities.lockClaims(tx, ref, issuer);
      const after = before && claimsAfter(before, claims, from);
      if (before === undefined || after === undefined) return false;
      await this.identities.keepClaims(tx, ref, issuer, after);
      const { role, hasSubscription } = after;
      if (role !== before.role || hasSubscription !== before.hasSubscription) {
        const said = { ...(role === null ? {} : { role }), ...(hasSubscription === null ? {} : { hasSubscription }) };
        tx.record(chain, { type: 'auth.claims_changed', metadata: { userId: row.userId, ...said } });
      }
      return true;
    }));
  }
}
