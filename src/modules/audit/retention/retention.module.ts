import { Module } from '@nestjs/common';
import { ArchiveStore } from '../../../platform/audit/archive-store.js';
import { CONFIG } from '../../../platform/config/config.js';
import { archiveOf } from './archives/directory-archive.js';
import { ArchivedDisclosures } from './archives/archived-disclosures.js';
import { ErasableArchives } from './archives/erasable-archives.js';
import { RecordsRetentionService } from './records-retention.service.js';
import { RetentionService } from './retention.service.js';
import { RetentionRunStore } from './retention-run.store.js';

/** Retention: archives, and the end of what they hold. */
@Module({
  providers: [
    { provide: ArchiveStore, useFactory: archiveOf, inject: [CONFIG] }, ArchivedDisclosures, ErasableArchives,
    RetentionRunStore, RetentionService, RecordsRetentionService,
  ],
  exports: [ArchiveStore, ErasableArchives],
})
export class RetentionModule {}
