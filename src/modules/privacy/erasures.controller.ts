import { Controller, Get, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/access/principal.js';
import { Idempotent } from '../../platform/http/request/idempotent.js';
import { JsonBody } from '../../platform/http/request/json-body.js';
import { pageRequest } from '../../platform/http/fields/pagination.js';
import { PathParam } from '../../platform/http/request/path-param.js';
import { QueryParams } from '../../platform/http/request/query-params.js';
import { Replies } from '../../platform/http/reply/replies.js';
import { RequestErasureService } from './requests/request-erasure.service.js';
import { AskErasureDto, ErasureListQuery } from './erasures.dto.js';
import { ErasureEnvelope, ErasureListReply, FoundReply, presentErasure } from './erasures.presenter.js';
import { ErasuresQuery } from './requests/erasures.query.js';

const DEFAULT_LIMIT = 50;

@ApiTags('Audit')
@Controller('api/v1/audit/erasures')
export class ErasuresController {
  constructor(
    private readonly asking: RequestErasureService,
    private readonly erasures: ErasuresQuery,
  ) {}

  @Get()
  @ApiOperation({ summary: 'List erasures', description: 'Newest first: what was erased when and for whom, never the values.' })
  @Access('audit.erase')
  @Replies(200, ErasureListReply)
  async list(@QueryParams(ErasureListQuery) query: ErasureListQuery, @Caller() caller: VerifiedCaller): Promise<ErasureListReply> {
    const { rows, total, nextCursor } = await this.erasures.list(caller.scope, query, pageRequest(query, DEFAULT_LIMIT));
    return { erasures: rows.map(presentErasure), total, ...(nextCursor ? { nextCursor } : {}) };
  }

  @Post()
  @ApiOperation({
    operationId: 'erasures.create',
    summary: 'Erase values of somebody who has no account here',
    description:
      'Every committed value of the log that holds one of the texts, and what else the service keeps of them, reads `[erased]` from ' +
      'then on, for good. 200: it has begun, and the search goes on behind the answer. 202: over 100 values, some of a decision, or a ' +
      'log too long to tell at once; a second administrator confirms it.',
  })
  @Access('audit.erase')
  @Idempotent('erasures.ask')
  @Replies(200, FoundReply)
  @Replies(202, FoundReply, 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  ask(@JsonBody(AskErasureDto) body: AskErasureDto, @Caller() caller: VerifiedCaller) {
    return this.asking.ask(body, caller);
  }

  @Post(':id/confirm')
  @ApiOperation({
    summary: 'Confirm an erasure',
    description: 'By another administrator, or root, than has asked for it. What nobody confirms within 7 days is forgotten.',
  })
  @Access('audit.erase')
  @Idempotent('erasures.confirm')
  @Replies(200, ErasureEnvelope, 'CONFLICT', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  confirm(@PathParam('id', 'ers') id: string, @Caller() caller: VerifiedCaller) {
    return this.asking.confirm(id, caller);
  }
}
