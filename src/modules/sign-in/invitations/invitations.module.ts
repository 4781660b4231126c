import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { UserRoutesModule } from '../../organizations/user-routes.module.js';
import { PasswordsModule } from '../passwords/passwords.module.js';
import { SignInPortsModule } from '../ports/ports.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { AcceptInvitation } from './accept-invitation.js';
import { InvitationTerms } from './invitation-terms.js';
import { InvitationsController } from './invitations.controller.js';
import { InvitationsQuery } from './invitations.query.js';
import { InvitePersonService } from './invite-person.service.js';
import { RedeemingModule } from './redeeming.module.js';

/** Invitations: how somebody comes to an account without a provider. */
@Module({
  // Routes stand in the order in which their modules are found, and a module is found before what it imports.
  imports: [OrganizationsModule, SignInPortsModule, SessionsModule, PasswordsModule, RedeemingModule, UserRoutesModule],
  controllers: [InvitationsController],
  providers: [InvitationsQuery, InvitationTerms, InvitePersonService, AcceptInvitation],
  exports: [AcceptInvitation],
})
export class InvitationsModule {}
