import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AgentsModule } from '../agents/agents.module.js';
import { PossibleApprovers } from '../agents/grants/possible-approvers.js';
import { AuthorityModule } from '../authority/authority.module.js';
import { CapabilitiesModule } from '../capabilities/capabilities.module.js';
import { ExecutionsModule } from '../executions/executions.module.js';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { RecordKeepers } from '../../platform/audit/record-keepers.js';
import { CancelErasedService } from './requests/cancel-erased.service.js';
import { CancelExecutionController } from './requests/cancel-execution.controller.js';
import { CancelWorkService } from './requests/cancel-work.service.js';
import { CountVotesService } from './decisions/count-votes.service.js';
import { DecideBatchService } from './decisions/decide-batch.service.js';
import { DecideRequestService } from './decisions/decide-request.service.js';
import { DueRequestsQuery } from './expiry/due-requests.query.js';
import { EditRequestService } from './decisions/edit-request.service.js';
import { EligibleDecidersQuery } from './queue/eligible-deciders.query.js';
import { QueueQuery } from './queue/queue.query.js';
import { QueueReader } from './queue/queue-reader.js';
import { EndedRequestsStore } from './requests/ended-requests.store.js';
import { EscalateRequestService } from './decisions/escalate-request.service.js';
import { ExpireNowService } from './expiry/expire-now.service.js';
import { PausedDeadlineStore } from './expiry/paused-deadline.store.js';
import { HitlController } from './hitl.controller.js';
import { HitlEventsController } from './events/hitl-events.controller.js';
import { HitlEventsFeed } from './events/hitl-events-feed.service.js';
import { HitlEventsQuery } from './events/hitl-events.query.js';
import { HitlEventsService } from './events/hitl-events.service.js';
import { HitlService } from './hitl.service.js';
import { requestRecords } from './requests/request-records.query.js';
import { voteRecords } from './decisions/vote-records.query.js';
import { HitlRequestEntity } from './requests/hitl-request.entity.js';
import { HitlRequestStore } from './requests/hitl-request.store.js';
import { RequestWork } from './requests/request-work.service.js';
import { HitlRequestsQuery } from './requests/hitl-requests.query.js';
import { HitlStatsController } from './stats/hitl-stats.controller.js';
import { HitlStatsQuery } from './stats/hitl-stats.query.js';
import { DecisionEligibilityService } from './decisions/decision-eligibility.service.js';
import { OpenRequestsQuery } from './stats/open-requests.query.js';
import { ReceiptExecutionService } from './requests/receipt-execution.service.js';
import { ApplyTransitionService } from './requests/apply-transition.service.js';
import { HitlPersonalData } from './personal-data.store.js';
import { RemindService } from './expiry/remind.service.js';
import { ExpirySchedule } from './expiry/expiry-schedule.service.js';
import { RequestExpiryService } from './expiry/request-expiry.service.js';
import { TimeOutService } from './expiry/time-out.service.js';
import { VoteStore } from './decisions/vote.store.js';

@Module({
  imports: [AgentsModule, CapabilitiesModule, TypeOrmModule.forFeature([HitlRequestEntity]), AuthorityModule, ExecutionsModule,
    OrganizationsModule],
  controllers: [HitlStatsController, HitlEventsController, HitlController, CancelExecutionController],
  providers: [
    ApplyTransitionService, CancelErasedService, CancelWorkService, CountVotesService, DecideBatchService, DecideRequestService,
    DecisionEligibilityService, DueRequestsQuery, EditRequestService, EligibleDecidersQuery, EndedRequestsStore, EscalateRequestService,
    ExpireNowService, ExpirySchedule, HitlEventsFeed, HitlEventsQuery, HitlEventsService, HitlPersonalData, HitlRequestStore,
    HitlRequestsQuery, HitlService, HitlStatsQuery, OpenRequestsQuery, PausedDeadlineStore, QueueQuery, QueueReader,
    ReceiptExecutionService, RemindService, RequestExpiryService, RequestWork, TimeOutService, VoteStore,
  ],
  exports: [
    ApplyTransitionService, CancelWorkService, HitlRequestStore, HitlRequestsQuery, HitlService, PausedDeadlineStore,
    ReceiptExecutionService,
  ],
})
export class HitlModule {
  constructor(keepers: RecordKeepers, approvers: PossibleApprovers, deciders: EligibleDecidersQuery) {
    approvers.register(deciders);
    keepers.register(requestRecords);
    keepers.register(voteRecords);
  }
}
