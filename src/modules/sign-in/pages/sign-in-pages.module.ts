import { type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import { InvitationsModule } from '../invitations/invitations.module.js';
import { PasskeysModule } from '../passkeys/passkeys.module.js';
import { PasswordsModule } from '../passwords/passwords.module.js';
import { SignInSeamsModule } from '../seams/seams.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { AccountFormsController } from './account-forms.controller.js';
import { AccountForms } from './account-forms.service.js';
import { AccountView } from './account-view.js';
import { InvitationPagesController } from './invitation-pages.controller.js';
import { InvitationPages } from './invitation-pages.service.js';
import { LocalWaysQuery } from './local-ways.query.js';
import { Offers } from './offers.js';
import { signInAssets } from './sign-in-assets.js';
import { SignInPagesController } from './sign-in-pages.controller.js';
import { SignInPages } from './sign-in-pages.service.js';

/** The pages of signing in, made on the server. */
@Module({
  imports: [SignInSeamsModule, SessionsModule, PasswordsModule, PasskeysModule, InvitationsModule],
  controllers: [SignInPagesController, AccountFormsController, InvitationPagesController],
  providers: [Offers, LocalWaysQuery, AccountView, SignInPages, AccountForms, InvitationPages],
})
export class SignInPagesModule implements NestModule {
  /** What the pages load says nothing that depends on who asks, so it stands before the guard. */
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(signInAssets()).forRoutes('sign-in/assets/*name');
  }
}
