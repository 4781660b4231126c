import { Controller, Get, Post } from '@nestjs/common';
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
import { Waiters } from '../../platform/wake/waiters.js';
import { isFinalExecution } from './execution.entity.js';
import { ExecutionListQuery, ReportDto, SettleDto, WaitQuery } from './executions.dto.js';
import { ExecutionEnvelope, ExecutionListReply, presentExecution } from './executions.presenter.js';
import { ExecutionsQuery } from './executions.query.js';
import { ReportExecutionService } from './report-execution.service.js';

const DEFAULT_LIMIT = 500;

@ApiTags('Execution')
@Controller('api/v1/executions')
export class ExecutionsController {
  constructor(
    private readonly executions: ExecutionsQuery,
    private readonly reports: ReportExecutionService,
    private readonly waiters: Waiters,
  ) {}

  @Get()
  @ApiOperation({ summary: 'List executions', description: 'Newest first.' })
  @Access('executions.read')
  @Replies(200, ExecutionListReply)
  async list(@QueryParams(ExecutionListQuery) query: ExecutionListQuery, @Caller() caller: VerifiedCaller): Promise<ExecutionListReply> {
    const { rows, total, nextCursor } = await this.executions.list(caller.scope, query, pageRequest(query, DEFAULT_LIMIT));
    return { executions: rows.map(presentExecution), total, ...(nextCursor ? { nextCursor } : {}) };
  }

  @Get(':id')
  @ApiOperation({ summary: 'One execution', description: '`?wait=` holds the answer until it is final.' })
  @Access('executions.read')
  @Replies(200, ExecutionEnvelope)
  async get(
    @PathParam('id', 'exec') id: string,
    @QueryParams(WaitQuery) { wait = 0 }: WaitQuery,
    @Caller() caller: VerifiedCaller,
  ): Promise<ExecutionEnvelope> {
    const read = () => this.executions.find(caller.scope, id);
    const execution = await this.waiters.until(id, caller, wait, read, isFinalExecution);
    if (!execution) throw new Problem('NOT_FOUND', 'There is no such execution.');
    return { execution: presentExecution(execution) };
  }

  @Post(':id/report')
  @ApiOperation({
    summary: 'Report what came of it',
    description: 'By the agent that did a receipt-only action itself: once, within 24 hours. Kept apart from what the service saw.',
  })
  @Access('executions.report')
  @Idempotent('executions.report')
  @Replies(200, ExecutionEnvelope, 'CONFLICT', 'AGENT_INACTIVE', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  report(@PathParam('id', 'exec') id: string, @JsonBody(ReportDto) body: ReportDto, @Caller() caller: VerifiedCaller) {
    return this.reports.report(id, body, caller);
  }

  @Post(':id/settle')
  @ApiOperation({
    summary: 'Settle an indeterminate execution',
    description: 'What a person found out. The closing entry stays as it is.',
  })
  @Access('executions.settle')
  @Idempotent('executions.settle')
  @Replies(200, ExecutionEnvelope, 'CONFLICT', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  settle(@PathParam('id', 'exec') id: string, @JsonBody(SettleDto) body: SettleDto, @Caller() caller: VerifiedCaller) {
    return this.reports.settle(id, body, caller);
  }
}
