import { Controller, Get, Header, Post } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/access/principal.js';
import { Idempotent, IdempotentItems } from '../../platform/http/request/idempotent.js';
import { JsonBody } from '../../platform/http/request/json-body.js';
import { pageRequest } from '../../platform/http/fields/pagination.js';
import { PathParam } from '../../platform/http/request/path-param.js';
import { QueryParams } from '../../platform/http/request/query-params.js';
import { Replies, reply } from '../../platform/http/reply/replies.js';
import { TIMEOUT_ACTION } from '../capabilities/document/mode-words.js';
import { BatchDto, BatchReply } from './decisions/decide-batch.dto.js';
import { DecideBatchService } from './decisions/decide-batch.service.js';
import { ApprovalDto, DecisionDto, EscalationDto, FormQuery, RequestListQuery, RequestWaitQuery } from './hitl.dto.js';
import { DecidedRequestEnvelope, EITHER_REQUEST, RequestListReply } from './hitl.replies.js';
import { ExpireNowService } from './expiry/expire-now.service.js';
import { HitlService } from './hitl.service.js';

const DECISION_CODES = [
  'HITL_ALREADY_DECIDED', 'HITL_EXPIRED', 'HITL_DIGEST_MISMATCH', 'NOT_EXECUTABLE', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED',
] as const;

const APPROVAL_CODES = [
  'STOPPED', 'NOT_ELIGIBLE', 'SELF_APPROVAL', 'REASON_REQUIRED', 'CONFLICT', 'INVALID_INPUT', 'CAPABILITY_BLOCKED',
] as const;

class TimeoutReply extends DecidedRequestEnvelope {
  @ApiProperty({ ...TIMEOUT_ACTION.member, description: 'As it was applied.' }) action!: string;
}

class ExpiryReply {
  @ApiProperty({ type: 'integer' }) checked!: number;
  @ApiProperty({ type: 'integer' }) timedOut!: number;
  @ApiProperty({ type: 'integer' }) approved!: number;
  @ApiProperty({ type: 'integer' }) escalated!: number;
  @ApiProperty({ required: false, description: 'Too much for one call: ask again, or leave the rest to the service.' }) more?: true;
}

@ApiTags('Human in the loop')
@Controller('api/v1/hitl')
export class HitlController {
  constructor(
    private readonly hitl: HitlService,
    private readonly expiry: ExpireNowService,
    private readonly batches: DecideBatchService,
  ) {}

  @Get()
  @ApiOperation({ summary: 'List requests', description: 'Newest first. With `assignedTo`, each says who can answer it: `decidableBy`.' })
  @Access('hitl.read')
  @Replies(200, RequestListReply)
  list(@QueryParams(RequestListQuery) query: RequestListQuery, @Caller() caller: VerifiedCaller) {
    return this.hitl.list(query, pageRequest(query, 100), caller);
  }

  /** A GET that acts: the interface names it. For admins, harmless to repeat, never stored; POST is its twin. */
  @Get('check-timeouts')
  @ApiOperation({
    operationId: 'hitl.checkTimeoutsByGet',
    summary: 'End requests whose time is over',
    description: 'The service does this by itself every second. Takes 5 seconds at most. Harmless to repeat.',
  })
  @Header('Cache-Control', 'no-store')
  @Access('hitl.timeout')
  @Replies(200, ExpiryReply)
  checkTimeouts(@Caller() caller: VerifiedCaller) {
    return this.expiry.checkNow(caller);
  }

  @Post('check-timeouts')
  @ApiOperation({
    operationId: 'hitl.checkTimeouts',
    summary: 'End requests whose time is over',
    description: 'The service does this by itself every second. Takes 5 seconds at most. Harmless to repeat.',
  })
  @Access('hitl.timeout')
  @Replies(200, ExpiryReply)
  checkTimeoutsNow(@Caller() caller: VerifiedCaller) {
    return this.expiry.checkNow(caller);
  }

  @Get(':id')
  @ApiOperation({
    summary: 'One request',
    description:
      'In snake_case unless `?form=camel`. `?wait=` holds the answer until the request is decided and its action closed. While it is ' +
      'open, `decidable_by` says how many active people may approve it now, at the level at which it stands, by the rules of deciding. ' +
      'Where `count` is 0, give somebody the right (a role, a place in the agent\'s team, the agent itself), have root decide or an ' +
      'owner break the glass; escalating finds nobody, since admins may decide at every level. A `count` below the approvals of ' +
      'the `quorum`, root\'s counted besides, waits for people too.',
  })
  @Access('hitl.read')
  @Replies(200, EITHER_REQUEST)
  get(@PathParam('id', 'hitl') id: string, @QueryParams(RequestWaitQuery) query: RequestWaitQuery, @Caller() caller: VerifiedCaller) {
    return this.hitl.show(id, query, caller);
  }

  @Post('batch')
  @ApiOperation({
    summary: 'Decide many requests',
    description:
      'Each as if alone: `results` tells of each, in the order of the items, which status it would have had. Approves nothing ' +
      'of level 2. An `Idempotency-Key` is good for each item, so a repeated batch decides what the first one left.',
  })
  @Access('hitl.decide')
  @IdempotentItems('hitl.batch')
  @Replies(200, BatchReply)
  decideBatch(@QueryParams(FormQuery) { form }: FormQuery, @JsonBody(BatchDto) body: BatchDto, @Caller() caller: VerifiedCaller) {
    return this.batches.decide(body, form, caller);
  }

  @Post(':id/approve')
  @ApiOperation({
    summary: 'Approve a request',
    description:
      'What was shown is what runs: send its `actionDigest` as `expectedDigest`. Waits 2 seconds for the ' +
      'outcome unless `?wait=` says otherwise. Level 0 is for the owner of the agent, its team, and admins; level 1 for leads of ' +
      'that team and admins; level 2 for admins. Whoever is behind the action may not approve it. Where several people have to, ' +
      'each approval is a vote, and the last one decides. With `editedInput` it is a new version that is approved, with a new ' +
      'digest; where an admin or several people have to approve, or separation of duties is strict, another person does.',
  })
  @Access('hitl.decide')
  @Idempotent('hitl.approve')
  @Replies(200, DecidedRequestEnvelope, ...APPROVAL_CODES, ...DECISION_CODES)
  approve(
    @PathParam('id', 'hitl') id: string,
    @QueryParams(RequestWaitQuery) query: RequestWaitQuery,
    @JsonBody(ApprovalDto) body: ApprovalDto,
    @Caller() caller: VerifiedCaller,
  ) {
    return this.hitl.approve(id, body, query, caller);
  }

  @Post(':id/reject')
  @ApiOperation({ summary: 'Reject a request', description: 'The action does not run. Whoever is behind the action may do so too.' })
  @Access('hitl.decide')
  @Idempotent('hitl.reject')
  @Replies(200, DecidedRequestEnvelope, 'STOPPED', 'NOT_ELIGIBLE', ...DECISION_CODES)
  reject(
    @PathParam('id', 'hitl') id: string,
    @QueryParams(FormQuery) query: FormQuery,
    @JsonBody(DecisionDto) body: DecisionDto,
    @Caller() caller: VerifiedCaller,
  ) {
    return this.hitl.reject(id, body, query, caller);
  }

  @Post(':id/escalate')
  @ApiOperation({
    summary: 'Hand a request on to the next level',
    description:
      'By whoever may decide it, whoever is behind the action included. It leaves the queue that it stood in, and a new window opens. ' +
      'In snake_case unless `?form=camel`.',
  })
  @Access('hitl.escalate')
  @Idempotent('hitl.escalate')
  @Replies(200, EITHER_REQUEST, 'STOPPED', 'NOT_ELIGIBLE', 'TARGET_NOT_ELIGIBLE', 'ESCALATION_LIMIT', ...DECISION_CODES)
  escalate(
    @PathParam('id', 'hitl') id: string,
    @QueryParams(FormQuery) query: FormQuery,
    @JsonBody(EscalationDto) body: EscalationDto,
    @Caller() caller: VerifiedCaller,
  ) {
    return this.hitl.escalate(id, body, query, caller);
  }

  @Post(':id/cancel')
  @ApiOperation({ summary: 'Cancel a request', description: 'By the agent that asked, or an admin.' })
  @Access('hitl.cancel')
  @Idempotent('hitl.cancel')
  @Replies(200, DecidedRequestEnvelope, ...DECISION_CODES)
  cancel(
    @PathParam('id', 'hitl') id: string,
    @QueryParams(FormQuery) query: FormQuery,
    @JsonBody(DecisionDto) body: DecisionDto,
    @Caller() caller: VerifiedCaller,
  ) {
    return this.hitl.cancel(id, body, query, caller);
  }

  @Post(':id/timeout')
  @ApiOperation({
    summary: 'Time a request out now',
    description: 'Applies the timeout action of its grant before the window ends. Never approves: where time would, a hand rejects.',
  })
  @Access('hitl.timeout')
  @Idempotent('hitl.timeout')
  @Replies(200, TimeoutReply, 'STOPPED', ...DECISION_CODES)
  async timeout(@PathParam('id', 'hitl') id: string, @QueryParams(FormQuery) query: FormQuery, @Caller() caller: VerifiedCaller) {
    const { action, replayed } = await this.expiry.trigger(id, caller);
    const body = { ...(await this.hitl.envelope(id, query, caller)), action };
    return reply(200, body, replayed ? { 'Idempotent-Replayed': 'true' } : {});
  }
}
