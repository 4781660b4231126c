import { Module } from '@nestjs/common';
import type { Anchor } from '../../../platform/audit/anchor.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { OutboundGuard } from '../../../platform/outbound/outbound-guard.js';
import { AnchorComparison, ANCHORS } from './anchor-comparison.service.js';
import { configuredAnchors } from './configured-anchors.js';
import { AnchorsReadiness } from './anchors.readiness.js';
import { CheckpointPublisher } from './publish-checkpoints.service.js';
import { UnanchoredAge } from './unanchored-age.js';
import { DatabaseIdentityMonitor } from './database-identity.service.js';

/** Where checkpoints are kept outside of the database, and what follows when they disagree with it. */
@Module({
  providers: [
    {
      provide: ANCHORS,
      inject: [CONFIG, OutboundGuard],
      useFactory: (config: CompleteConfig, outbound: OutboundGuard): Anchor[] => configuredAnchors(config, outbound),
    },
    AnchorComparison, AnchorsReadiness, CheckpointPublisher, UnanchoredAge, DatabaseIdentityMonitor,
  ],
  exports: [AnchorComparison],
})
export class AnchorsModule {}
