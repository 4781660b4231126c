import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { SignInSeamsModule } from '../seams/seams.module.js';
import { Sessions } from '../seams/sessions.js';
import { EndSessions } from './end-sessions.js';
import { PeopleSessions } from './people-sessions.js';
import { SessionSource } from './session.source.js';
import { SessionStore } from './session.store.js';
import { SessionTokens } from './session-tokens.js';
import { SessionsWithAccount } from './sessions-with-account.js';

/** Sessions of people: how they begin, are shown, listed and end. */
@Module({
  imports: [OrganizationsModule, SignInSeamsModule],
  providers: [
    SessionStore, SessionTokens, EndSessions, SessionsWithAccount, SessionSource, { provide: Sessions, useClass: PeopleSessions },
  ],
  exports: [Sessions, SessionTokens],
})
export class SessionsModule {}
