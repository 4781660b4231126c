import { Module } from '@nestjs/common';
import { AnchorsModule } from '../anchors/anchors.module.js';
import { VerificationTurns, VerificationTurnsStore } from '../verification-turns.store.js';
import { LogVerifier, VerifyLogService } from '../verify-log.service.js';
import { DatabaseVerifier } from './database-verifier.js';
import { SharedVerifications, SharedVerificationsStore } from './shared-verifications.store.js';
import { VerifiedParts, VerifiedPartsStore } from './verified-parts.store.js';

/** Verification of the whole log on request: chains, trees, checkpoints, anchors. */
@Module({
  imports: [AnchorsModule],
  providers: [
    VerifyLogService,
    { provide: LogVerifier, useClass: DatabaseVerifier },
    { provide: VerificationTurns, useClass: VerificationTurnsStore },
    { provide: SharedVerifications, useClass: SharedVerificationsStore },
    { provide: VerifiedParts, useClass: VerifiedPartsStore },
  ],
  exports: [VerifyLogService],
})
export class VerificationModule {}
