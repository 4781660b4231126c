import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { QueryParams } from '../../../platform/http/request/query-params.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { EventsQuery } from './hitl-events.dto.js';
import { HitlEventsService } from './hitl-events.service.js';

@ApiTags('Human in the loop')
@Controller('api/v1/hitl')
export class HitlEventsController {
  constructor(private readonly events: HitlEventsService) {}

  /** Not @Sse: it knows no comments, waits for nobody who reads slowly, and keeps what they leave unread without a bound. */
  @Get('events')
  @ApiOperation({
    operationId: 'hitl.events',
    summary: 'Follow requests',
    description:
      'Server-sent events: `hitl.created`, `hitl.escalated`, `hitl.approved`, `hitl.rejected`, `hitl.timed_out`, `hitl.cancelled`, ' +
      '`hitl.voted`, `hitl.edited`, `hitl.reminded`, and `execution.<status>` when the action of a request ends. Open the stream, then ' +
      'load the list: what happens in between is in the stream. With `Last-Event-ID` what was missed comes first. At `reset` load the ' +
      'list anew: the id is older than the 24 hours for which events are kept, too much was missed, or the id is unknown.',
  })
  @ApiHeader({ name: 'Last-Event-ID', required: false, description: 'Id of the last event that was seen.', schema: { type: 'string' } })
  @ApiResponse({ status: 200, description: 'A stream without end.', content: { 'text/event-stream': { schema: { type: 'string' } } } })
  @Access('hitl.read')
  @Replies(200, null)
  stream(
    @Req() request: Request,
    @Res() response: Response,
    @QueryParams(EventsQuery) query: EventsQuery,
    @Caller() caller: VerifiedCaller,
  ) {
    return this.events.stream(request, response, query, caller);
  }
}
