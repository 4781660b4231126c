import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { SignInPortsModule } from '../ports/ports.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { AccountDeletions } from './accounts/account-deletions.js';
import { BackchannelController } from './logout/backchannel.controller.js';
import { BackchannelService } from './logout/backchannel.service.js';
import { BeginLoginService } from './login/begin-login.service.js';
import { CallbackService } from './login/callback.service.js';
import { DeleteAccountHandler } from './accounts/delete-account.handler.js';
import { EndedProviderSessions } from './logout/ended-provider-sessions.js';
import { ForgetProviderUser } from './accounts/forget-provider-user.js';
import { ApplyRenewalService } from './renewal/apply-renewal.service.js';
import { LoginController } from './login/login.controller.js';
import { LoginCookies } from './login/login-cookies.js';
import { LogoutTokens } from './logout/logout-token.js';
import { OpenSessionService } from './login/open-session.service.js';
import { ProviderAdministration } from './accounts/provider-administration.js';
import { OpenidProviderLogout } from './logout/openid-provider-logout.js';
import { ProviderSessionsQuery } from './logout/provider-sessions.query.js';
import { ProviderTrustModule } from './provider-trust.module.js';
import { RenewSessionService } from './renewal/renew-session.service.js';
import { RenewalsService } from './renewal/renewals.service.js';
import { RenewalsStore } from './renewal/renewals.store.js';

/** Sign-in through the identity provider: redirect, callback, renewal, and logout at both ends. */
@Module({
  imports: [OrganizationsModule, SignInPortsModule, SessionsModule, ProviderTrustModule],
  controllers: [LoginController, BackchannelController],
  providers: [
    BeginLoginService, CallbackService, OpenSessionService, LoginCookies, RenewSessionService, RenewalsService, RenewalsStore,
    ApplyRenewalService, OpenidProviderLogout, LogoutTokens, BackchannelService, ProviderSessionsQuery, EndedProviderSessions,
    AccountDeletions, ProviderAdministration, DeleteAccountHandler, ForgetProviderUser,
  ],
})
export class ProviderModule {}
