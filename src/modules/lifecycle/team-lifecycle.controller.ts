import { Controller, Delete } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/access/principal.js';
import { PathParam } from '../../platform/http/request/path-param.js';
import { Replies } from '../../platform/http/reply/replies.js';
import { RemoveTeamService } from './remove-team.service.js';

@ApiTags('Teams')
@Controller('api/v1/teams')
export class TeamLifecycleController {
  constructor(private readonly removal: RemoveTeamService) {}

  @Delete(':id')
  @ApiOperation({
    operationId: 'teams.remove',
    summary: 'Remove a team',
    description: 'Its grants are revoked and its memberships end. 409 while agents belong to it, in service or not.',
  })
  @Access('teams.write')
  @Replies(204, null, 'CONFLICT')
  remove(@PathParam('id', 'team') id: string, @Caller() caller: VerifiedCaller) {
    return this.removal.remove(id, caller);
  }
}
