import { Inject, Injectable } from '@nestjs/common';
import type { Claims } from '../../../../domain/access/claims.js';
import { organizationChain } from '../../../../domain/audit/entry/chain.js';
import type { Tx } from '../../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../../platform/database/transaction/unit-of-work.js';
import { foldedEmail } from '../../../organizations/users/make-account.js';
import type { UserRef } from '../../../organizations/users/user.store.js';
import { type FoundInvitation, InvitationStore } from '../../invitations/invitation.store.js';
import { RedeemInvitation } from '../../invitations/redeem-invitation.js';
import type { AccountRefusal } from '../../ports/provider-accounts.js';
import { IdentityStore } from './identity.store.js';

/** Invitations as the provider's users accept them: by the address that the provider has verified, without the link. */
@Injectable()
export class InvitedByAddress {
  constructor(
    private readonly invitations: InvitationStore,
    private readonly redeeming: RedeemInvitation,
    private readonly identities: IdentityStore,
    @Inject(UnitOfWork) private readonly work: UnitOfWork,
  ) {}

  async find({ email, tenantId }: Claims): Promise<FoundInvitation | 'several' | undefined> {
    if (email === undefined) return undefined;
    return this.work.run({ chains: [], leavesFacts: true }, (tx) => this.invitations.openOfAddress(tx, foldedEmail(email), tenantId));
  }

  /**
   * For a unit of work by `RedeemInvitation.plan`, which is to be committed whatever comes of it.
   *
   * @param closed the account that the user had until now, where its organization's head is locked too
   */
  async accept(
    tx: Tx, invitation: FoundInvitation, issuer: string, claims: Claims, closed?: UserRef,
  ): Promise<AccountRefusal | undefined> {
    if (claims.userId !== undefined && claims.userId !== invitation.userId) return 'another_user';
    const user = await this.redeeming.redeem(tx, invitation, { provider: claims });
    if (!user) return 'not_invited';
    if (closed !== undefined) await this.leave(tx, closed, issuer, user.id);
    const isReplaced = await this.identities.bind(tx, user, issuer, claims);
    if (invitation.userId === null) return undefined;
    tx.record(
      organizationChain(user.organizationId),
      { type: 'auth.credential_changed', metadata: { userId: user.id, method: 'provider', change: isReplaced ? 'replaced' : 'added' } },
      { actorId: user.id },
    );
    return undefined;
  }

  private async leave(tx: Tx, { organizationId, id }: UserRef, issuer: string, by: string): Promise<void> {
    await this.identities.unbind(tx, { organizationId, id }, issuer);
    const metadata = { userId: id, method: 'provider', change: 'removed' };
    tx.record(organizationChain(organizationId), { type: 'auth.credential_changed', metadata }, { actorId: by });
  }
}
