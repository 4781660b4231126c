import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { InvitationStore } from './invitation.store.js';
import { InvitedStore } from './invited.store.js';
import { RedeemInvitation } from './redeem-invitation.js';

/** From an invitation to an account, whoever vouches for the person: its link, or the identity provider. */
@Module({
  imports: [OrganizationsModule],
  providers: [InvitationStore, InvitedStore, RedeemInvitation],
  exports: [InvitationStore, InvitedStore, RedeemInvitation],
})
export class RedeemingModule {}
