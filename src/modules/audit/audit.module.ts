import { Module } from '@nestjs/common';
import { AnchorsModule } from './anchors/anchors.module.js';
import { AuditController } from './audit.controller.js';
import { AuditQuery } from './audit.query.js';
import { ExportsModule } from './exports/exports.module.js';
import { SweepsModule } from './sweeps/sweeps.module.js';
import { TreesModule } from './trees/trees.module.js';
import { VerificationTurnsStore } from './verification-turns.store.js';
import { VerificationModule } from './verification/verification.module.js';
import { VerifyLogService } from './verify-log.service.js';

@Module({
  // Before the controller here: its `/audit/:id` would take their routes for ids.
  imports: [TreesModule, AnchorsModule, VerificationModule, ExportsModule, SweepsModule],
  controllers: [AuditController],
  providers: [AuditQuery, VerificationTurnsStore, VerifyLogService],
  exports: [AuditQuery],
})
export class AuditModule {}
