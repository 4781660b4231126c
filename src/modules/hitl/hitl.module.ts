import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthorityModule } from '../authority/authority.module.js';
import { CapabilitiesModule } from '../capabilities/capabilities.module.js';
import { ExecutionsModule } from '../executions/executions.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { RecordKeepers } from '../../platform/audit/record-keepers.js';
import { ApproveRequestService } from './approve-request.service.js';
import { CancelErasedService } from './cancel-erased.service.js';
import { CancelExecutionController } from './cancel-execution.controller.js';
import { CancelWorkService } from './cancel-work.service.js';
import { CountVotesService } from './count-votes.service.js';
import { DecideBatchService } from './decide-batch.service.js';
import { DecideRequestService } from './decide-request.service.js';
import { DueRequestsQuery } from './due-requests.query.js';
import { EditRequestService } from './edit-request.service.js';
import { EligibleDecidersQuery } from './eligible-deciders.query.js';
import { EndedRequestsStore } from './ended-requests.store.js';
import { EscalateRequestService } from './escalate-request.service.js';
import { ExpireRequestsService } from './expire-requests.service.js';
import { FrozenClockStore } from './frozen-clock.store.js';
import { HitlController } from './hitl.controller.js';
import { HitlEventsController } from './hitl-events.controller.js';
import { HitlEventsFeed } from './hitl-events-feed.service.js';
import { HitlEventsQuery } from './hitl-events.query.js';
import { HitlEventsService } from './hitl-events.service.js';
import { HitlDesk } from './hitl-desk.service.js';
import { requestRecords } from './hitl-records.query.js';
import { voteRecords } from './vote-records.query.js';
import { HitlRequestEntity } from './hitl-request.entity.js';
import { HitlRequestStore } from './hitl-request.store.js';
import { HitlRequestsQuery } from './hitl-requests.query.js';
import { HitlStatsController } from './hitl-stats.controller.js';
import { HitlStatsQuery } from './hitl-stats.query.js';
import { JudgeDecisionService } from './judge-decision.service.js';
import { LicenceService } from './licence.service.js';
import { MoveRequestService } from './move-request.service.js';
import { HitlPersonalData } from './personal-data.store.js';
import { RemindService } from './remind.service.js';
import { Sweeper } from './sweeper.service.js';
import { SweepService } from './sweep.service.js';
import { TimeOutService } from './time-out.service.js';
import { VoteStore } from './vote.store.js';

@Module({
  imports: [CapabilitiesModule, TypeOrmModule.forFeature([HitlRequestEntity]), AuthorityModule, ExecutionsModule,
    OrganizationsModule],
  controllers: [HitlStatsController, HitlEventsController, HitlController, CancelExecutionController],
  providers: [
    ApproveRequestService, CancelErasedService, CancelWorkService, CountVotesService, DecideBatchService, DecideRequestService,
    DueRequestsQuery, EditRequestService, EligibleDecidersQuery, EndedRequestsStore, EscalateRequestService, ExpireRequestsService,
    FrozenClockStore, HitlDesk, HitlEventsFeed, HitlEventsQuery, HitlEventsService, HitlPersonalData, HitlRequestStore,
    HitlRequestsQuery, HitlStatsQuery, JudgeDecisionService, LicenceService, MoveRequestService, RemindService, Sweeper, SweepService,
    TimeOutService, VoteStore,
  ],
  exports: [CancelWorkService, FrozenClockStore, HitlRequestStore, HitlRequestsQuery, HitlDesk, LicenceService, MoveRequestService],
})
export class HitlModule {
  constructor(keepers: RecordKeepers) {
    keepers.register(requestRecords);
    keepers.register(voteRecords);
  }
}
