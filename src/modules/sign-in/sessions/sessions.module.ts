import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { SignInPortsModule } from '../ports/ports.module.js';
import { Sessions } from '../ports/sessions.js';
import { EndSessions } from './ending/end-sessions.js';
import { OwnSessionsService } from './own-sessions.service.js';
import { PeopleSessions } from './people-sessions.js';
import { SessionExpiry } from './ending/session-expiry.js';
import { SessionSource } from './session.source.js';
import { SessionStore } from './session.store.js';
import { SealedProviderTokens } from './sealed-provider-tokens.js';
import { SessionsController } from './sessions.controller.js';
import { SessionsQuery } from './sessions.query.js';
import { SessionsWithAccount } from './ending/sessions-with-account.js';
import { WhoAmIService } from './who-am-i.service.js';

/** Sessions of people: how they begin, are shown, listed and end. */
@Module({
  imports: [OrganizationsModule, SignInPortsModule],
  controllers: [SessionsController],
  providers: [
    SessionStore, SealedProviderTokens, EndSessions, SessionsWithAccount, SessionSource, { provide: Sessions, useClass: PeopleSessions },
    SessionsQuery, OwnSessionsService, WhoAmIService, SessionExpiry,
  ],
  exports: [Sessions, SealedProviderTokens, OwnSessionsService, WhoAmIService],
})
export class SessionsModule {}
