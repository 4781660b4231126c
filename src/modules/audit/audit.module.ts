import { Module } from '@nestjs/common';
import type { Anchor } from '../../platform/audit/anchor.js';
import { ArchiveStore } from '../../platform/audit/archive-store.js';
import { CONFIG, type CompleteConfig } from '../../platform/config/config.js';
import { OutboundGuard } from '../../platform/outbound/outbound-guard.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { AnchorComparison, ANCHORS } from './anchors/anchor-comparison.service.js';
import { AnchorsReadiness } from './anchors/anchors.readiness.js';
import { SharedFolders } from './anchors/shared-folders.js';
import { configuredAnchors } from './anchors/configured-anchors.js';
import { DatabaseIdentityMonitor } from './anchors/database-identity.service.js';
import { CheckpointPublisher } from './anchors/publish-checkpoints.service.js';
import { UnanchoredAge } from './anchors/unanchored-age.js';
import { CheckpointLeader } from './checkpoints/checkpoint-leader.service.js';
import { CheckpointThinning } from './checkpoints/checkpoint-thinning.js';
import { TreeLagQuery } from './checkpoints/tree-lag.query.js';
import { SignedErasures } from './erasures/signed-erasures.service.js';
import { ExportLogService } from './exports/export-log.service.js';
import { ExportPersonService } from './exports/export-person.service.js';
import { ExportsController } from './exports/exports.controller.js';
import { ExportsService } from './exports/exports.service.js';
import { VerifierPage } from './exports/stand-alone-verifier.js';
import { SigningKeyFact } from './keys/signing-key.readiness.js';
import { ProofsController } from './proofs/proofs.controller.js';
import { ProofsService } from './proofs/proofs.service.js';
import { AuditQuery } from './query/audit.query.js';
import { ArchivedDisclosures } from './retention/archives/archived-disclosures.js';
import { archiveOf } from './retention/archives/directory-archive.js';
import { ErasableArchives } from './retention/archives/erasable-archives.js';
import { RecordsRetention } from './retention/records-retention.js';
import { RetentionRunStore } from './retention/retention-run.store.js';
import { RetentionService } from './retention/retention.service.js';
import { RetentionRuns } from './retention/run-retention.js';

/** The log but for its own routes: trees, checkpoints and proofs, anchors, exports, retention. */
@Module({
  imports: [OrganizationsModule],
  controllers: [ProofsController, ExportsController],
  providers: [
    {
      provide: ANCHORS,
      inject: [CONFIG, OutboundGuard],
      useFactory: (config: CompleteConfig, outbound: OutboundGuard): Anchor[] => configuredAnchors(config, outbound),
    },
    AnchorComparison, AnchorsReadiness, CheckpointPublisher, UnanchoredAge, SharedFolders, DatabaseIdentityMonitor,
    CheckpointThinning, CheckpointLeader, TreeLagQuery, SigningKeyFact, ProofsService, AuditQuery, SignedErasures,
    ExportsService, ExportLogService, ExportPersonService, VerifierPage,
    { provide: ArchiveStore, useFactory: archiveOf, inject: [CONFIG] }, ArchivedDisclosures, ErasableArchives,
    RetentionRunStore, RetentionRuns, RetentionService, RecordsRetention,
  ],
  exports: [AuditQuery, AnchorComparison, SignedErasures, ErasableArchives],
})
export class AuditModule {}
