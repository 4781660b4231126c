import { Module } from '@nestjs/common';
import { AnchorsModule } from '../anchors/anchors.module.js';
import { AuditModule } from '../audit.module.js';
import { CheckpointThinning } from './checkpoint-thinning.js';
import { ProofsController } from '../proofs/proofs.controller.js';
import { ProofsService } from '../proofs/proofs.service.js';
import { SigningKeyFact } from '../keys/signing-key.readiness.js';
import { CheckpointLeader } from './checkpoint-leader.service.js';

/** Integration of leaves, the map, checkpoints and proofs. */
@Module({
  imports: [AuditModule, AnchorsModule],
  controllers: [ProofsController],
  providers: [CheckpointThinning, ProofsService, SigningKeyFact, CheckpointLeader],
})
export class CheckpointsModule {}
