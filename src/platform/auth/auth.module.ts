import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { MaintenanceGuard } from '../http/maintenance.guard.js';
import { AccessGuard } from './access/access.guard.js';
import { AuthJournal } from './failures/auth-journal.js';
import { BrowserCalls } from './access/browser-calls.js';
import { CallerCheck } from './credentials/caller-check.js';
import { Identification } from './credentials/identification.js';
import { InternalKey } from './credentials/internal-key.js';

/**
 * The guards, for every route of every module, in the order in which they are asked.
 * Credential sources are registered by the modules that own them.
 */
@Global()
@Module({
  providers: [
    AuthJournal, BrowserCalls, CallerCheck, Identification, InternalKey,
    { provide: APP_GUARD, useClass: MaintenanceGuard }, { provide: APP_GUARD, useClass: AccessGuard },
  ],
  exports: [AuthJournal, BrowserCalls, CallerCheck, Identification, InternalKey],
})
export class AuthModule {}
