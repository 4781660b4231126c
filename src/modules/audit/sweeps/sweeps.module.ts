import { Module } from '@nestjs/common';
import { ArchiveStore } from '../../../platform/audit/archive-store.js';
import { CONFIG } from '../../../platform/config/config.js';
import { archiveOf } from './archive.directory.js';
import { ArchivedDisclosures } from './archived-disclosures.js';
import { ErasableArchives } from './erasable-archives.js';
import { RecordsRetentionService } from './records-retention.service.js';
import { RetentionService } from './retention.service.js';
import { StandingLog } from './standing-log.query.js';
import { LogSweeps } from './sweep-log.js';
import { SweepStore } from './sweep.store.js';

/** Retention: archives, and the end of what they hold. */
@Module({
  providers: [
    { provide: ArchiveStore, useFactory: archiveOf, inject: [CONFIG] }, ArchivedDisclosures, ErasableArchives,
    StandingLog, SweepStore, LogSweeps, RetentionService, RecordsRetentionService,
  ],
  exports: [ArchiveStore, ErasableArchives],
})
export class SweepsModule {}
