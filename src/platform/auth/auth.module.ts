import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { HeldGuard } from '../http/held.guard.js';
import { AccessGuard } from './access.guard.js';
import { AuthJournal } from './auth-journal.js';
import { CallerCheck } from './caller-check.js';

/** The guards, for every route of every module, in the order in which they are asked. Credential sources are registered by the modules that own them. */
@Global()
@Module({
  providers: [
    AuthJournal, CallerCheck, { provide: APP_GUARD, useClass: HeldGuard }, { provide: APP_GUARD, useClass: AccessGuard },
  ],
  exports: [AuthJournal, CallerCheck],
})
export class AuthModule {}
