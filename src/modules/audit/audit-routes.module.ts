import { Module } from '@nestjs/common';
import { AuditController } from './audit.controller.js';
import { AuditModule } from './audit.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { PeopleOfEntries } from './query/people-of-entries.js';
import { DatabaseVerifier } from './verification/database-verifier.query.js';
import { VerificationRateLimitStore } from './verification/verification-rate-limit.store.js';
import { VerifyLogService } from './verification/verify-log.service.js';

/** Apart from the module and behind all others: `/audit/:id` would take what stands below `/audit` for ids. */
@Module({
  imports: [AuditModule, OrganizationsModule],
  controllers: [AuditController],
  providers: [VerifyLogService, PeopleOfEntries, DatabaseVerifier, VerificationRateLimitStore],
})
export class AuditRoutesModule {}
