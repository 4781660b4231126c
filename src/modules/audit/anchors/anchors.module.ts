import { Module } from '@nestjs/common';
import type { Anchor } from '../../../platform/audit/anchor.js';
import { BeforeSigning } from '../../../platform/audit/before-signing.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { OutboundGuard } from '../../../platform/outbound/outbound-guard.js';
import { AgreeService, ANCHORS } from './agree.service.js';
import { Anchors } from './anchors.js';
import { anchorsOf } from './anchors-of.js';
import { AnchorsReadiness } from './anchors.readiness.js';
import { PublishService } from './publish.service.js';
import { UnanchoredAge } from './unanchored-age.js';
import { WatchService } from './watch.service.js';

/** Where checkpoints are kept outside of the database, and what follows when they disagree with it. */
@Module({
  providers: [
    {
      provide: ANCHORS,
      inject: [CONFIG, OutboundGuard],
      useFactory: (config: CompleteConfig, outbound: OutboundGuard): Anchor[] => anchorsOf(config, outbound),
    },
    AgreeService, AnchorsReadiness, PublishService, UnanchoredAge, WatchService,
    { provide: Anchors, useExisting: AgreeService },
  ],
  exports: [Anchors],
})
export class AnchorsModule {
  constructor(signing: BeforeSigning, anchors: Anchors) {
    signing.register({ name: 'anchors', agree: () => anchors.agree() });
  }
}
