import { Controller, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { Idempotent } from '../../../platform/http/request/idempotent.js';
import { JsonBody } from '../../../platform/http/request/json-body.js';
import { PathParam } from '../../../platform/http/request/path-param.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { RegistrationReply } from '../agents.presenter.js';
import { ActivateNodeDto, SetupTokenReply } from './nodes.dto.js';
import { SetupNodeService } from './setup-node.service.js';

@ApiTags('Nodes')
@Controller('api/v1')
export class NodesController {
  constructor(private readonly setup: SetupNodeService) {}

  @Post('agents/:id/setup-token')
  @ApiOperation({
    operationId: 'nodes.issueSetupToken',
    summary: 'Issue a one-time token for a node',
    description: 'Good for 24 hours and one `POST /api/v1/node/activate`. Whatever ends the tokens of the agent ends it too.',
  })
  @Access('agents.issue-token')
  @Idempotent('agents.setup-token')
  @Replies(201, SetupTokenReply, 'AGENT_INACTIVE', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  issue(@PathParam('id', 'agt') id: string, @Caller() caller: VerifiedCaller) {
    return this.setup.issue(id, caller);
  }

  @Post('node/activate')
  @ApiOperation({
    summary: 'Exchange a setup token for a token of the agent',
    description: 'The setup token is the credential, and good once. 401 when it is unknown, used, expired or revoked.',
  })
  @Access('public')
  @Replies(200, RegistrationReply, 'UNAUTHENTICATED', 'AGENT_INACTIVE')
  activate(@JsonBody(ActivateNodeDto) body: ActivateNodeDto) {
    return this.setup.activate(body.token, body.nodeId);
  }
}
