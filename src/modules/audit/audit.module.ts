import { Module } from '@nestjs/common';
import { AuditController } from './audit.controller.js';
import { AuditQuery } from './audit.query.js';
import { VerificationTurnsStore } from './verification-turns.store.js';
import { VerifyLogService } from './verify-log.service.js';

@Module({
  controllers: [AuditController],
  providers: [AuditQuery, VerificationTurnsStore, VerifyLogService],
  exports: [AuditQuery],
})
export class AuditModule {}
