import { Module } from '@nestjs/common';
import { AnchorsModule } from '../anchors/anchors.module.js';
import { VerificationRateLimit, VerificationRateLimitStore } from './verification-rate-limit.store.js';
import { LogVerifier, VerifyLogService } from './verify-log.service.js';
import { DatabaseVerifier } from './database-verifier.js';
import { SharedVerifications, SharedVerificationsStore } from './superseded/shared-verifications.store.js';
import { VerifiedParts, VerifiedPartsStore } from './superseded/verified-parts.store.js';

/** Verification of the whole log on request: chains, trees, checkpoints, anchors. */
@Module({
  imports: [AnchorsModule],
  providers: [
    VerifyLogService,
    { provide: LogVerifier, useClass: DatabaseVerifier },
    { provide: VerificationRateLimit, useClass: VerificationRateLimitStore },
    { provide: SharedVerifications, useClass: SharedVerificationsStore },
    { provide: VerifiedParts, useClass: VerifiedPartsStore },
  ],
  exports: [VerifyLogService],
})
export class VerificationModule {}
