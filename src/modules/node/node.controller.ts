import { Controller, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/access/principal.js';
import { JsonBody } from '../../platform/http/request/json-body.js';
import { PathParam } from '../../platform/http/request/path-param.js';
import { QueryParams } from '../../platform/http/request/query-params.js';
import { Replies, type Reply, reply } from '../../platform/http/reply/replies.js';
import { WaitQuery } from '../executions/executions.dto.js';
import {
  HeartbeatDto, HeartbeatReply, LeaseReply, ResultReply, StartReply, StartWorkDto, WorkResultDto,
} from './node.dto.js';
import { presentLease, presentStarted } from './node.presenter.js';
import { NodeService, nodeOf } from './node.service.js';
import { StartWorkService } from './start-work.service.js';

/** The node of an agent: it authenticates as the agent. */
@ApiTags('Nodes')
@Controller('api/v1/node')
export class NodeController {
  constructor(
    private readonly node: NodeService,
    private readonly starting: StartWorkService,
  ) {}

  @Post('heartbeat')
  @ApiOperation({
    operationId: 'nodes.heartbeat',
    summary: 'Say that the node is there',
    description: 'For a minute from then on the agent has a fresh node. So has it by each poll for work.',
  })
  @Access('node.work')
  @Replies(200, HeartbeatReply)
  async heartbeat(@JsonBody(HeartbeatDto) body: HeartbeatDto, @Caller() caller: VerifiedCaller): Promise<HeartbeatReply> {
    const { agentId, nodeLastSeen, cancelled } = await this.node.heartbeat(body, caller);
    return { agentId, nodeLastSeen: nodeLastSeen.toISOString(), cancelled: [...cancelled] };
  }

  @Post('tasks/lease')
  @ApiOperation({
    operationId: 'nodes.lease',
    summary: 'Ask for work',
    description: 'The oldest that waits, without its input: 30 s to start it, then it can be leased again. `?wait=` holds the answer '
      + 'until there is some. 204 where there is none; 403 `CAPABILITY_NOT_IN_TOKEN` where all is of what the token does not hold.',
  })
  @Access('node.work')
  @Replies(200, LeaseReply, 'CAPABILITY_NOT_IN_TOKEN')
  @Replies(204, null)
  async lease(
    @QueryParams(WaitQuery) { wait = 0 }: WaitQuery, @Caller() caller: VerifiedCaller,
  ): Promise<Reply<LeaseReply | undefined>> {
    const lease = await this.node.lease(wait, caller);
    return lease === undefined ? reply(204, undefined) : reply(200, { task: presentLease(lease) });
  }

  @Post('tasks/:executionId/start')
  @ApiOperation({
    operationId: 'nodes.start',
    summary: 'Start leased work',
    description: 'The gate is asked once more, and the input is handed out, once. 409 `NOT_EXECUTABLE`: the gate refuses now; the '
      + 'execution has failed. 409 `CONFLICT`: the lease does not hold any more, or the work was started.',
  })
  @Access('node.work')
  @Replies(200, StartReply, 'CAPABILITY_NOT_IN_TOKEN', 'CONFLICT', 'NOT_EXECUTABLE')
  async start(
    @PathParam('executionId', 'exec') id: string, @JsonBody(StartWorkDto) { fence }: StartWorkDto, @Caller() caller: VerifiedCaller,
  ): Promise<StartReply> {
    return { task: presentStarted(await this.starting.start(id, fence, nodeOf(caller))) };
  }

  @Post('tasks/:executionId/result')
  @ApiOperation({
    operationId: 'nodes.result',
    summary: 'Say what came of started work',
    description: 'It is durable when the answer comes. The same result again is 200, another one 409. `late`: the execution had ended '
      + 'without it.',
  })
  @Access('node.work')
  @Replies(200, ResultReply, 'CONFLICT')
  async result(
    @PathParam('executionId', 'exec') id: string, @JsonBody(WorkResultDto) body: WorkResultDto, @Caller() caller: VerifiedCaller,
  ): Promise<ResultReply> {
    const { isLate } = await this.node.result(id, body, caller);
    return { id, late: isLate };
  }
}
