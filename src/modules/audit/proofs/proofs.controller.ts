import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { ServedInMaintenance } from '../../../platform/http/maintenance.guard.js';
import { PageQuery } from '../../../platform/http/fields/pagination.js';
import { PathParam } from '../../../platform/http/request/path-param.js';
import { QueryParams } from '../../../platform/http/request/query-params.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { CheckpointListReply, KeysReply, ProofReply } from './proofs.dto.js';
import { ProofsService } from './proofs.service.js';

@ApiTags('Audit')
@Controller('api/v1/audit')
export class ProofsController {
  constructor(private readonly proofs: ProofsService) {}

  @Get('keys')
  @ServedInMaintenance()
  @ApiOperation({
    operationId: 'audit.keys', summary: 'The keys that sign checkpoints', description: 'Needs no credential. Keep them elsewhere, too.',
  })
  @Access('public')
  @Replies(200, KeysReply)
  keys(): Promise<KeysReply> {
    return this.proofs.keys();
  }

  @Get('checkpoints')
  @ServedInMaintenance()
  @ApiOperation({
    operationId: 'audit.checkpoints',
    summary: "Signed checkpoints of the platform's tree",
    description: 'Newest first. Needs no credential: they tell nothing of anybody, and an organization\'s own come with its proofs.',
  })
  @Access('public')
  @Replies(200, CheckpointListReply)
  checkpoints(@QueryParams(PageQuery) query: PageQuery): Promise<CheckpointListReply> {
    return this.proofs.checkpoints(query);
  }

  @Get(':id/proof')
  @ApiOperation({
    operationId: 'audit.proof',
    summary: "An entry's place in the signed trees",
    description: 'What is needed to check, without this server, that the entry stands under the newest checkpoint. ' +
      '409 until a checkpoint covers it, a few seconds after it was written.',
  })
  @Access('audit.proof')
  @Replies(200, ProofReply, 'CONFLICT')
  proof(@PathParam('id', 'audit') id: string, @Caller() caller: VerifiedCaller): Promise<ProofReply> {
    return this.proofs.proof(caller, id);
  }
}
