import { Controller, Delete } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../platform/auth/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/principal.js';
import { PathParam } from '../../platform/http/path-param.js';
import { Replies } from '../../platform/http/replies.js';
import { RemoveAgentService } from './remove-agent.service.js';

@ApiTags('Agents')
@Controller('api/v1/agents')
export class LifecycleController {
  constructor(private readonly removal: RemoveAgentService) {}

  @Delete(':id')
  @ApiOperation({
    summary: 'Remove an agent for good',
    description: 'Its grants are revoked and its open requests cancelled; entries, requests and executions stay.',
  })
  @Access('agents.write')
  @Replies(204, null)
  remove(@PathParam('id', 'agt') id: string, @Caller() caller: VerifiedCaller) {
    return this.removal.remove(id, caller);
  }
}
