import { Controller, Get, Header, Post } from '@nestjs/common';
import { ApiProperty, ApiTags } from '@nestjs/swagger';
import { TIMEOUT_ACTIONS } from '../../domain/gate/vocabulary.js';
import { Access, Caller } from '../../platform/auth/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/principal.js';
import { Idempotent } from '../../platform/http/idempotent.js';
import { JsonBody } from '../../platform/http/json-body.js';
import { pageRequest } from '../../platform/http/pagination.js';
import { PathParam } from '../../platform/http/path-param.js';
import { QueryParams } from '../../platform/http/query-params.js';
import { Replies, reply } from '../../platform/http/replies.js';
import { ApprovalDto, DecisionDto, FormQuery, RequestListQuery, RequestWaitQuery } from './hitl.dto.js';
import { RequestEnvelope, RequestListReply, RequestReply, RequestSnakeReply } from './hitl.presenter.js';
import { ExpireRequestsService } from './expire-requests.service.js';
import { HitlDesk } from './hitl-desk.service.js';

const DECISION_CODES = [
  'HITL_ALREADY_DECIDED', 'HITL_EXPIRED', 'HITL_DIGEST_MISMATCH', 'NOT_EXECUTABLE', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED',
] as const;

class TimeoutReply {
  @ApiProperty({ type: RequestReply }) request!: RequestReply;
  @ApiProperty({ enum: TIMEOUT_ACTIONS, description: 'As it was applied.' }) action!: string;
}

class SweptReply {
  @ApiProperty({ type: 'integer' }) checked!: number;
  @ApiProperty({ type: 'integer' }) timedOut!: number;
  @ApiProperty({ type: 'integer' }) approved!: number;
  @ApiProperty({ type: 'integer' }) escalated!: number;
}

@ApiTags('Human in the loop')
@Controller('api/v1/hitl')
export class HitlController {
  constructor(
    private readonly desk: HitlDesk,
    private readonly expiry: ExpireRequestsService,
  ) {}

  @Get()
  @Access('hitl.read')
  @Replies(200, RequestListReply)
  list(@QueryParams(RequestListQuery) query: RequestListQuery, @Caller() caller: VerifiedCaller) {
    return this.desk.list(query, pageRequest(query, 100), caller);
  }

  /** A GET that acts: the interface names it. For admins, harmless to repeat, never stored; POST is its twin. */
  @Get('check-timeouts')
  @Header('Cache-Control', 'no-store')
  @Access('hitl.timeout')
  @Replies(200, SweptReply)
  checkTimeouts(@Caller() caller: VerifiedCaller) {
    return this.expiry.sweep(caller.scope, caller.actorId);
  }

  @Post('check-timeouts')
  @Access('hitl.timeout')
  @Replies(200, SweptReply)
  checkTimeoutsNow(@Caller() caller: VerifiedCaller) {
    return this.expiry.sweep(caller.scope, caller.actorId);
  }

  @Get(':id')
  @Access('hitl.read')
  @Replies(200, RequestSnakeReply)
  get(@PathParam('id', 'hitl') id: string, @QueryParams(RequestWaitQuery) query: RequestWaitQuery, @Caller() caller: VerifiedCaller) {
    return this.desk.show(id, query, caller);
  }

  @Post(':id/approve')
  @Access('hitl.decide')
  @Idempotent('hitl.approve')
  @Replies(200, RequestEnvelope, ...DECISION_CODES)
  approve(
    @PathParam('id', 'hitl') id: string,
    @QueryParams(RequestWaitQuery) query: RequestWaitQuery,
    @JsonBody(ApprovalDto) body: ApprovalDto,
    @Caller() caller: VerifiedCaller,
  ) {
    return this.desk.approve(id, body, query, caller);
  }

  @Post(':id/reject')
  @Access('hitl.decide')
  @Idempotent('hitl.reject')
  @Replies(200, RequestEnvelope, ...DECISION_CODES)
  reject(
    @PathParam('id', 'hitl') id: string,
    @QueryParams(FormQuery) query: FormQuery,
    @JsonBody(DecisionDto) body: DecisionDto,
    @Caller() caller: VerifiedCaller,
  ) {
    return this.desk.reject(id, body, query, caller);
  }

  @Post(':id/cancel')
  @Access('hitl.cancel')
  @Idempotent('hitl.cancel')
  @Replies(200, RequestEnvelope, ...DECISION_CODES)
  cancel(
    @PathParam('id', 'hitl') id: string,
    @QueryParams(FormQuery) query: FormQuery,
    @JsonBody(DecisionDto) body: DecisionDto,
    @Caller() caller: VerifiedCaller,
  ) {
    return this.desk.cancel(id, body, query, caller);
  }

  @Post(':id/timeout')
  @Access('hitl.timeout')
  @Idempotent('hitl.timeout')
  @Replies(200, TimeoutReply, ...DECISION_CODES)
  async timeout(@PathParam('id', 'hitl') id: string, @QueryParams(FormQuery) query: FormQuery, @Caller() caller: VerifiedCaller) {
    const { action, replayed } = await this.expiry.trigger(id, caller);
    const body = { ...(await this.desk.envelope(id, query, caller)), action };
    return reply(200, body, replayed ? { 'Idempotent-Replayed': 'true' } : {});
  }
}
