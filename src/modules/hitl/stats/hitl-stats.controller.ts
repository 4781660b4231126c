import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { Text, Timestamp } from '../../../platform/http/fields/fields.js';
import { QueryParams } from '../../../platform/http/request/query-params.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { HitlStatsReply, presentStats } from './hitl-stats.presenter.js';
import { HitlStatsQuery } from './hitl-stats.query.js';

export class StatsQuery {
  @Timestamp({ optional: true, date: 'start', doc: 'Asked at or after this moment.' })
  from?: Date;

  @Timestamp({ optional: true, date: 'end', doc: 'Asked at or before this moment.' })
  to?: Date;

  @Text({ max: 100, optional: true, doc: "Only this agent's." })
  agentId?: string;

  @Text({ max: 200, optional: true, doc: 'Only of this capability.' })
  capability?: string;

  @Text({ max: 100, optional: true, doc: 'Only of this organization.' })
  organizationId?: string;
}

/** Registered before the controller of single requests, whose `:id` would take "stats" for one. */
@ApiTags('Human in the loop')
@Controller('api/v1/hitl')
export class HitlStatsController {
  constructor(private readonly stats: HitlStatsQuery) {}

  @Get('stats')
  @ApiOperation({
    operationId: 'hitl.stats',
    summary: 'How requests end, and how fast people decide',
    description: "Rates and times are of people's decisions alone: what a window, the system or a cancellation ended does not count.",
  })
  @Access('hitl.stats')
  @Replies(200, HitlStatsReply)
  async read(@QueryParams(StatsQuery) query: StatsQuery, @Caller() caller: VerifiedCaller): Promise<HitlStatsReply> {
    return presentStats(await this.stats.read(caller.scope, query));
  }
}
