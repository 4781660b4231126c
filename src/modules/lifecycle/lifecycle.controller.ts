import { Controller, Delete } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
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
  @Access('agents.write')
  @Replies(204, null)
  remove(@PathParam('id', 'agt') id: string, @Caller() caller: VerifiedCaller) {
    return this.removal.remove(id, caller);
  }
}
