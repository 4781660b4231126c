import { Controller, Delete, Get, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/access/principal.js';
import { Idempotent } from '../../platform/http/request/idempotent.js';
import { JsonBody } from '../../platform/http/request/json-body.js';
import { pageRequest } from '../../platform/http/fields/pagination.js';
import { PathParam } from '../../platform/http/request/path-param.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { QueryParams } from '../../platform/http/request/query-params.js';
import { Replies } from '../../platform/http/reply/replies.js';
import { StopsQuery } from '../organizations/stops/stops.query.js';
import { StopAgentsService } from './stop-agents.service.js';
import { MakeStopDto, StopListQuery } from './stops.dto.js';
import { presentStop, StopEnvelope, StopListReply } from './stops.presenter.js';

const DEFAULT_LIMIT = 500;

@ApiTags('Stops')
@Controller('api/v1/stops')
export class StopsController {
  constructor(
    private readonly stopping: StopAgentsService,
    private readonly stops: StopsQuery,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'List stops',
    description: 'Newest first, those that were lifted too. Stops of `all` are shown as well; only root lifts them.',
  })
  @Access('stops.read')
  @Replies(200, StopListReply)
  async list(@QueryParams(StopListQuery) query: StopListQuery, @Caller() caller: VerifiedCaller): Promise<StopListReply> {
    const { rows, total, nextCursor } = await this.stops.list(caller.scope, query, pageRequest(query, DEFAULT_LIMIT));
    return { stops: rows.map(presentStop), total, ...(nextCursor ? { nextCursor } : {}) };
  }

  @Post()
  @ApiOperation({
    summary: 'Stop an agent, an organization, or everything',
    description:
      'After the answer nothing more begins in its scope, on any server: the gate, approvals, rejections, escalations and timeouts ' +
      'answer 403 `STOPPED`. The windows of open requests stand still.',
  })
  @Access('stops.write')
  @Idempotent('stops.create')
  @Replies(201, StopEnvelope, 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  create(@JsonBody(MakeStopDto) body: MakeStopDto, @Caller() caller: VerifiedCaller) {
    return this.stopping.make(body, caller);
  }

  @Get(':id')
  @ApiOperation({ summary: 'One stop' })
  @Access('stops.read')
  @Replies(200, StopEnvelope)
  async get(@PathParam('id', 'stp') id: string, @Caller() caller: VerifiedCaller): Promise<StopEnvelope> {
    const stop = await this.stops.find(caller.scope, id);
    if (!stop) throw new Problem('NOT_FOUND', 'There is no such stop.');
    return { stop: presentStop(stop) };
  }

  @Delete(':id')
  @ApiOperation({
    summary: 'Lift a stop',
    description:
      'By its maker or a higher role. Open requests get back the time during which they were held. What was approved before the ' +
      'stop and had not begun stays cancelled.',
  })
  @Access('stops.write')
  @Replies(204, null, 'CONFLICT')
  lift(@PathParam('id', 'stp') id: string, @Caller() caller: VerifiedCaller) {
    return this.stopping.lift(id, caller);
  }
}
