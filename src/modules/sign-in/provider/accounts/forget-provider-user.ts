import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../../platform/database/transaction/tx.js';
import { type AccountEnd, type AccountEnding, AccountEnds, type EndElsewhere } from '../../../organizations/users/account-ends.js';
import type { UserRef } from '../../../organizations/users/user.store.js';
import { AccountDeletions } from './account-deletions.js';
import { IdentityStore } from './identity.store.js';
import { ProviderAdministration } from './provider-administration.js';
import { ProviderMetadata } from '../client/provider-metadata.js';

/**
 * Erasing somebody cuts the link to the provider's user at once, and orders that account's deletion where the provider can be asked for
 * it. Whoever signs in there anew is somebody new here; by a token from before nobody comes back.
 */
@Injectable()
export class ForgetProviderUser implements AccountEnd {
  constructor(
    private readonly identities: IdentityStore,
    private readonly deletions: AccountDeletions,
    private readonly administration: ProviderAdministration,
    private readonly provider: ProviderMetadata,
    accounts: AccountEnds,
  ) {
    accounts.register(this);
  }

  async ended(tx: Tx, ref: UserRef, { reason }: AccountEnding): Promise<{ readonly elsewhere?: EndElsewhere }> {
    if (reason !== 'erased') return {};
    const users = await this.identities.forget(tx, ref);
    const orders = this.administration.isAvailable ? users.filter(({ issuer }) => issuer === this.provider.issuer) : [];
    for (const user of orders) this.deletions.order(tx, ref, user);
    if (users.length > orders.length) return { elsewhere: 'by_hand' };
    if (users.length > 0 || (await this.deletions.tryAgain(tx, ref))) return { elsewhere: 'follows' };
    return {};
  }

  async hasFollowed(ref: UserRef): Promise<boolean> {
    return !(await this.deletions.isWaiting(ref));
  }
}
