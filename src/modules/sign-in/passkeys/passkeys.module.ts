import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { InvitationsModule } from '../invitations/invitations.module.js';
import { PasswordsModule } from '../passwords/passwords.module.js';
import { SignInPortsModule } from '../ports/ports.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { AddPasskey } from './own/add-passkey.service.js';
import { SessionIssuer } from '../ports/session-issuer.js';
import { Challenges } from './webauthn/challenges.js';
import { InvitedPasskeysController } from './invited-passkeys.controller.js';
import { InvitedPasskeys } from './invited-passkeys.service.js';
import { KeepPasskey } from './keep-passkey.js';
import { OwnPasskeysController } from './own/own-passkeys.controller.js';
import { OwnPasskeys } from './own/own-passkeys.service.js';
import { PasskeyProofs } from './webauthn/passkey-proofs.js';
import { PasskeySignInController } from './passkey-sign-in.controller.js';
import { PasskeyStore } from './passkey.store.js';
import { PasskeysQuery } from './passkeys.query.js';
import { RelyingParty } from './webauthn/relying-party.js';
import { SignInByPasskey } from './sign-in-by-passkey.service.js';

/** Passkeys, for installations without a provider. */
@Module({
  imports: [OrganizationsModule, SignInPortsModule, SessionsModule, PasswordsModule, InvitationsModule],
  controllers: [PasskeySignInController, OwnPasskeysController, InvitedPasskeysController],
  providers: [
    RelyingParty, Challenges, PasskeysQuery, PasskeyStore, PasskeyProofs, SessionIssuer, KeepPasskey, SignInByPasskey, OwnPasskeys,
    AddPasskey,
    InvitedPasskeys,
  ],
  exports: [RelyingParty, OwnPasskeys, PasskeysQuery, SessionIssuer],
})
export class PasskeysModule {}
