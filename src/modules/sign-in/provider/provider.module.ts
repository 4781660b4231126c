import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { SignInSeamsModule } from '../seams/seams.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { AccountDeletions } from './account-deletions.js';
import { BackchannelController } from './backchannel.controller.js';
import { BackchannelService } from './backchannel.service.js';
import { BeginLoginService } from './begin-login.service.js';
import { CallbackService } from './callback.service.js';
import { DeleteAccountHandler } from './delete-account.handler.js';
import { EndedProviderSessions } from './ended-provider-sessions.js';
import { ForgetProviderUser } from './forget-provider-user.js';
import { LandRenewalService } from './land-renewal.service.js';
import { LoginController } from './login.controller.js';
import { LoginCookies } from './login-cookies.js';
import { LogoutTokens } from './logout-token.js';
import { OpenSessionService } from './open-session.service.js';
import { ProviderAdministration } from './provider-administration.js';
import { FarewellAtProvider } from './provider-farewell.js';
import { ProviderSessionsQuery } from './provider-sessions.query.js';
import { ProviderTrustModule } from './provider-trust.module.js';
import { RenewSessionService } from './renew-session.service.js';
import { RenewalsService } from './renewals.service.js';
import { RenewalsStore } from './renewals.store.js';

/** Sign-in through the identity provider: redirect, callback, renewal, and logout at both ends. */
@Module({
  imports: [OrganizationsModule, SignInSeamsModule, SessionsModule, ProviderTrustModule],
  controllers: [LoginController, BackchannelController],
  providers: [
    BeginLoginService, CallbackService, OpenSessionService, LoginCookies, RenewSessionService, RenewalsService, RenewalsStore,
    LandRenewalService, FarewellAtProvider, LogoutTokens, BackchannelService, ProviderSessionsQuery, EndedProviderSessions,
    AccountDeletions, ProviderAdministration, DeleteAccountHandler, ForgetProviderUser,
  ],
})
export class ProviderModule {}
