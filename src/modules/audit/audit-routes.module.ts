import { Module } from '@nestjs/common';
import { AuditController } from './audit.controller.js';
import { AuditModule } from './audit.module.js';
import { VerificationModule } from './verification/verification.module.js';

/** Apart from the module and behind all others: `/audit/:id` would take what stands below `/audit` for ids. */
@Module({ imports: [AuditModule, VerificationModule], controllers: [AuditController] })
export class AuditRoutesModule {}
