import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { HeldGuard } from '../http/held.guard.js';
import { AccessGuard } from './access.guard.js';
import { AuthJournal } from './auth-journal.js';
import { BrowserCalls } from './browser-calls.js';
import { CallerCheck } from './caller-check.js';
import { Identification } from './identification.js';
import { InternalKey } from './internal-key.js';

/**
 * The guards, for every route of every module, in the order in which they are asked.
 * Credential sources are registered by the modules that own them.
 */
@Global()
@Module({
  providers: [
    AuthJournal, BrowserCalls, CallerCheck, Identification, InternalKey,
    { provide: APP_GUARD, useClass: HeldGuard }, { provide: APP_GUARD, useClass: AccessGuard },
  ],
  exports: [AuthJournal, BrowserCalls, CallerCheck, Identification, InternalKey],
})
export class AuthModule {}
