import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthorityModule } from '../authority/authority.module.js';
import { CapabilitiesModule } from '../capabilities/capabilities.module.js';
import { ExecutionsModule } from '../executions/executions.module.js';
import { CancelExecutionController } from './cancel-execution.controller.js';
import { CancelWorkService } from './cancel-work.service.js';
import { DecideBatchService } from './decide-batch.service.js';
import { DecideRequestService } from './decide-request.service.js';
import { EligibleDecidersQuery } from './eligible-deciders.query.js';
import { EscalateRequestService } from './escalate-request.service.js';
import { ExpireRequestsService } from './expire-requests.service.js';
import { FrozenClockStore } from './frozen-clock.store.js';
import { HitlController } from './hitl.controller.js';
import { HitlDesk } from './hitl-desk.service.js';
import { HitlRequestEntity } from './hitl-request.entity.js';
import { HitlRequestStore } from './hitl-request.store.js';
import { HitlRequestsQuery } from './hitl-requests.query.js';
import { HitlStatsController } from './hitl-stats.controller.js';
import { HitlStatsQuery } from './hitl-stats.query.js';
import { JudgeDecisionService } from './judge-decision.service.js';
import { LicenceService } from './licence.service.js';
import { MoveRequestService } from './move-request.service.js';

@Module({
  imports: [CapabilitiesModule, TypeOrmModule.forFeature([HitlRequestEntity]), AuthorityModule, ExecutionsModule],
  controllers: [HitlStatsController, HitlController, CancelExecutionController],
  providers: [
    CancelWorkService, DecideBatchService, DecideRequestService, EligibleDecidersQuery, EscalateRequestService,
    ExpireRequestsService, FrozenClockStore, HitlDesk, HitlRequestStore, HitlRequestsQuery, HitlStatsQuery, JudgeDecisionService,
    LicenceService, MoveRequestService,
  ],
  exports: [CancelWorkService, FrozenClockStore, HitlRequestStore, HitlRequestsQuery, HitlDesk, LicenceService, MoveRequestService],
})
export class HitlModule {}
