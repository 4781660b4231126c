import { Module } from '@nestjs/common';
import { ArchiveStore } from '../../../platform/audit/archive-store.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { DirectoryArchive } from './archive.directory.js';
import { ArchivedDisclosures } from './archived-disclosures.js';
import { NoArchive } from './no-archive.js';

/** Where archives go, as the configuration says. */
export function archiveOf({ auditArchive }: Pick<CompleteConfig, 'auditArchive'>): ArchiveStore {
  return auditArchive === undefined ? new NoArchive() : new DirectoryArchive(auditArchive);
}

/** Retention: archives, and the end of what they hold. */
@Module({
  providers: [{ provide: ArchiveStore, useFactory: archiveOf, inject: [CONFIG] }, ArchivedDisclosures],
  exports: [ArchiveStore, ArchivedDisclosures],
})
export class SweepsModule {}
