import { type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import { InvitationsModule } from '../invitations/invitations.module.js';
import { PasskeysModule } from '../passkeys/passkeys.module.js';
import { PasswordsModule } from '../passwords/passwords.module.js';
import { SignInPortsModule } from '../ports/ports.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { AccountFormsController } from './account/account-forms.controller.js';
import { AccountForms } from './account/account-forms.service.js';
import { AccountPages } from './account/account-pages.service.js';
import { FrontDoorController } from './front-door.controller.js';
import { InvitationPagesController } from './invitation/invitation-pages.controller.js';
import { InvitationPages } from './invitation/invitation-pages.service.js';
import { LocalWaysQuery } from './account/local-ways.query.js';
import { SignInMethods } from './sign-in-methods.js';
import { signInAssets } from './sign-in-assets.js';
import { SignInPagesController } from './sign-in-pages.controller.js';
import { SignInPages } from './sign-in-pages.service.js';

/** The pages of signing in, made on the server. */
@Module({
  imports: [SignInPortsModule, SessionsModule, PasswordsModule, PasskeysModule, InvitationsModule],
  controllers: [FrontDoorController, SignInPagesController, AccountFormsController, InvitationPagesController],
  providers: [SignInMethods, LocalWaysQuery, AccountPages, SignInPages, AccountForms, InvitationPages],
})
export class SignInPagesModule implements NestModule {
  /** What the pages load says nothing that depends on who asks, so it stands before the guard. */
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(signInAssets()).forRoutes('sign-in/assets/*name');
  }
}
