import { Controller, Delete, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/access/principal.js';
import { Idempotent } from '../../platform/http/request/idempotent.js';
import { JsonBody } from '../../platform/http/request/json-body.js';
import { PathParam } from '../../platform/http/request/path-param.js';
import { Replies } from '../../platform/http/reply/replies.js';
import { AgentEnvelope } from '../agents/agents.presenter.js';
import { TransferDto } from './lifecycle.dto.js';
import { RemoveAgentService } from './leaving/remove-agent.service.js';
import { TransferAgentService } from './leaving/transfer-agent.service.js';

@ApiTags('Agents')
@Controller('api/v1/agents')
export class LifecycleController {
  constructor(
    private readonly removal: RemoveAgentService,
    private readonly transfers: TransferAgentService,
  ) {}

  @Delete(':id')
  @ApiOperation({
    operationId: 'agents.remove',
    summary: 'Remove an agent for good',
    description: 'Its grants are revoked and its open requests cancelled; entries, requests and executions stay.',
  })
  @Access('agents.write')
  @Replies(204, null)
  remove(@PathParam('id', 'agt') id: string, @Caller() caller: VerifiedCaller) {
    return this.removal.remove(id, caller);
  }

  @Post(':id/transfer')
  @ApiOperation({
    operationId: 'agents.transfer',
    summary: 'Move an agent to another organization',
    description:
      'Its chain goes on there. Its grants are revoked, its open requests and what was approved and has not begun are cancelled, its ' +
      'owner and team cleared, its tokens dead. 409 while an action of it runs, or a stop holds it here or there.',
  })
  @Access('agents.transfer')
  @Idempotent('agents.transfer')
  @Replies(200, AgentEnvelope, 'CONFLICT', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  transfer(@PathParam('id', 'agt') id: string, @JsonBody(TransferDto) body: TransferDto, @Caller() caller: VerifiedCaller) {
    return this.transfers.transfer(id, body, caller);
  }
}
