import { Module } from '@nestjs/common';
import { AnchorsModule } from '../anchors/anchors.module.js';
import { VerificationRateLimit, VerificationRateLimitStore } from './verification-rate-limit.store.js';
import { LogVerifier, VerifyLogService } from './verify-log.service.js';
import { DatabaseVerifier } from './database-verifier.query.js';

/** Verification of the whole log on request: chains, trees, checkpoints, anchors. */
@Module({
  imports: [AnchorsModule],
  providers: [
    VerifyLogService,
    { provide: LogVerifier, useClass: DatabaseVerifier },
    { provide: VerificationRateLimit, useClass: VerificationRateLimitStore },
  ],
  exports: [VerifyLogService],
})
export class VerificationModule {}
