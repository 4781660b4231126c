import { Module } from '@nestjs/common';
import { BearerModule } from './bearer/bearer.module.js';
import { InvitationsModule } from './invitations/invitations.module.js';
import { SignInPagesModule } from './pages/sign-in-pages.module.js';
import { PasskeysModule } from './passkeys/passkeys.module.js';
import { PasswordsModule } from './passwords/passwords.module.js';
import { SignInPersonalData } from './personal-data.store.js';
import { ProviderModule } from './provider/provider.module.js';
import { SessionsModule } from './sessions/sessions.module.js';

/** How people come in: through the identity provider, or by what is kept here. */
@Module({
  imports: [
    SessionsModule, ProviderModule, BearerModule, PasswordsModule, PasskeysModule, InvitationsModule, SignInPagesModule,
  ],
  providers: [SignInPersonalData],
})
export class SignInModule {}
