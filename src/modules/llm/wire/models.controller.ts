import { Controller, Get, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { ReadsQuery } from '../../../platform/http/request/query-params.js';
import { RefusesAs, Replies } from '../../../platform/http/reply/replies.js';
import { EarlyRefusal } from '../calls/early-refusal.service.js';
import { isAgent } from '../calls/model-calls.service.js';
import { ModelListReply, VendorErrorReply } from '../llm.dto.js';
import { ModelListService, type ListedModel } from '../providers/model-list.service.js';
import { VendorQuery } from './vendor-query.js';

const SUMMARY = 'List models';
const DESCRIPTION = 'The models that may be named here, in one list that the clients of both vendors read.';

@ApiTags('Language models')
@RefusesAs(VendorErrorReply)
@Controller('api/v1/llm')
export class ModelsController {
  constructor(
    private readonly models: ModelListService,
    private readonly refusals: EarlyRefusal,
  ) {}

  @Get('models')
  @ApiOperation({ operationId: 'llm.models', summary: SUMMARY, description: DESCRIPTION })
  @Access('llm.invoke')
  @ReadsQuery(VendorQuery)
  @Replies(200, ModelListReply)
  list(@Req() _request: Request, @Caller() caller: VerifiedCaller) {
    return this.listed(caller);
  }

  @Get('v1/models')
  @ApiOperation({ operationId: 'llm.modelsByOtherPath', summary: SUMMARY, description: 'The same as `GET /api/v1/llm/models`.' })
  @Access('llm.invoke')
  @ReadsQuery(VendorQuery)
  @Replies(200, ModelListReply)
  listByOtherPath(@Req() _request: Request, @Caller() caller: VerifiedCaller) {
    return this.listed(caller);
  }

  private async listed(caller: VerifiedCaller): Promise<ModelListReply> {
    if (isAgent(caller)) await this.refusals.judge(caller);
    const data = (await this.models.list()).map(presentModel);
    return { object: 'list', data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
  }
}

function presentModel({ id, provider, createdAt, displayName }: ListedModel) {
  return {
    id, object: 'model', type: 'model', created: Math.floor(createdAt.getTime() / 1_000), created_at: createdAt.toISOString(),
    owned_by: provider, display_name: displayName,
  };
}
