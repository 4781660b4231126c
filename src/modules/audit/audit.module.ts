import { Module } from '@nestjs/common';
import { AuditQuery } from './audit.query.js';
import { VerificationTurnsStore } from './verification-turns.store.js';
import { VerifyLogService } from './verify-log.service.js';

@Module({
  providers: [AuditQuery, VerificationTurnsStore, VerifyLogService],
  exports: [AuditQuery, VerifyLogService],
})
export class AuditModule {}
