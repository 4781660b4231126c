import { Module } from '@nestjs/common';
import { AuditModule } from '../audit.module.js';
import { CheckpointJanitor } from './checkpoint-janitor.js';
import { ProofsController } from './proofs.controller.js';
import { ProofsService } from './proofs.service.js';
import { SigningKeyFact } from './signing-key.fact.js';
import { TreeKeeper } from './tree-keeper.service.js';
import { TreeSnapshots } from './snapshots.query.js';

/** Integration of leaves, the map, checkpoints and proofs. */
@Module({
  imports: [AuditModule],
  controllers: [ProofsController],
  providers: [CheckpointJanitor, ProofsService, SigningKeyFact, TreeKeeper, TreeSnapshots],
  exports: [TreeSnapshots],
})
export class TreesModule {}
