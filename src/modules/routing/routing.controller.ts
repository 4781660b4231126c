import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/access/principal.js';
import { Idempotent } from '../../platform/http/request/idempotent.js';
import { JsonBody } from '../../platform/http/request/json-body.js';
import { QueryParams } from '../../platform/http/request/query-params.js';
import { Replies } from '../../platform/http/reply/replies.js';
import { DelegateTaskService } from './delegate-task.service.js';
import { ResolveAgentService } from './resolve-agent.service.js';
import { RoutingDecisionStore } from './routing-decision.store.js';
import { DelegateDto, ResolveDto, RoutingLogQuery } from './routing.dto.js';
import { DelegationReply, presentDecision, RoutingDecisionEnvelope, RoutingLogReply } from './routing.presenter.js';

@ApiTags('Routing and delegation')
@Controller('api/v1/routing')
export class RoutingController {
  constructor(
    private readonly resolving: ResolveAgentService,
    private readonly delegating: DelegateTaskService,
    private readonly decisions: RoutingDecisionStore,
  ) {}

  @Post('resolve')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Find the best agent for a task',
    description: 'Eligible is who is active and not stopped and holds every capability, not as `block`. An agent asks for what it holds.',
  })
  @Access('routing.resolve')
  @Idempotent('routing.resolve')
  @Replies(200, RoutingDecisionEnvelope, 'NO_ELIGIBLE_AGENT', 'CAPABILITY_NOT_GRANTED', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  resolve(@JsonBody(ResolveDto) body: ResolveDto, @Caller() caller: VerifiedCaller) {
    return this.resolving.resolve(body, caller);
  }

  @Post('delegate')
  @ApiOperation({
    summary: 'Give a task to an agent',
    description:
      'To the one that is named, or the best. Each agent of its chain has to be able to do this very call now; it is asked again when ' +
      'the task is done.',
  })
  @Access('routing.delegate')
  @Idempotent('routing.delegate')
  @Replies(201, DelegationReply, 'NO_ELIGIBLE_AGENT', 'CAPABILITY_NOT_GRANTED', 'CAPABILITY_NOT_IN_TOKEN', 'CAPABILITY_BLOCKED',
    'AGENT_INACTIVE', 'STOPPED', 'INVALID_INPUT', 'CONFLICT', 'TOO_MANY_PENDING', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  delegate(@JsonBody(DelegateDto) body: DelegateDto, @Caller() caller: VerifiedCaller) {
    return this.delegating.delegate(body, caller);
  }

  @Get('log')
  @ApiOperation({ summary: 'The last 200 routing decisions', description: 'Newest first; those that found nobody too.' })
  @Access('routing.read')
  @Replies(200, RoutingLogReply)
  async log(@QueryParams(RoutingLogQuery) { organizationId }: RoutingLogQuery, @Caller() caller: VerifiedCaller): Promise<RoutingLogReply> {
    const decisions = await this.decisions.latest(caller.scope, organizationId);
    return { decisions: decisions.map(presentDecision), total: decisions.length };
  }
}
