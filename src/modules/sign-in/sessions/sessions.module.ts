import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { SignInSeamsModule } from '../seams/seams.module.js';
import { Sessions } from '../seams/sessions.js';
import { EndSessions } from './end-sessions.js';
import { OwnSessionsService } from './own-sessions.service.js';
import { PeopleSessions } from './people-sessions.js';
import { SessionExpiry } from './session-expiry.js';
import { SessionSource } from './session.source.js';
import { SessionStore } from './session.store.js';
import { SessionTokens } from './session-tokens.js';
import { SessionsController } from './sessions.controller.js';
import { SessionsQuery } from './sessions.query.js';
import { SessionsWithAccount } from './sessions-with-account.js';
import { WhoAmIService } from './who-am-i.service.js';

/** Sessions of people: how they begin, are shown, listed and end. */
@Module({
  imports: [OrganizationsModule, SignInSeamsModule],
  controllers: [SessionsController],
  providers: [
    SessionStore, SessionTokens, EndSessions, SessionsWithAccount, SessionSource, { provide: Sessions, useClass: PeopleSessions },
    SessionsQuery, OwnSessionsService, WhoAmIService, SessionExpiry,
  ],
  exports: [Sessions, SessionTokens, OwnSessionsService, WhoAmIService],
})
export class SessionsModule {}
