import { Module } from '@nestjs/common';
import { ArchiveStore } from '../../../platform/audit/archive-store.js';
import { CONFIG } from '../../../platform/config/config.js';
import { archiveOf } from './archive.directory.js';
import { ArchivedDisclosures } from './archived-disclosures.js';
import { RecordsRetentionService } from './records-retention.service.js';
import { RetentionService } from './retention.service.js';
import { StandingLog } from './standing-log.query.js';
import { LogSweeps } from './sweep-log.js';

/** Retention: archives, and the end of what they hold. */
@Module({
  providers: [
    { provide: ArchiveStore, useFactory: archiveOf, inject: [CONFIG] }, ArchivedDisclosures, StandingLog, LogSweeps, RetentionService,
    RecordsRetentionService,
  ],
  exports: [ArchiveStore, ArchivedDisclosures],
})
export class SweepsModule {}
