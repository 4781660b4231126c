import { Controller, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { Idempotent } from '../../../platform/http/request/idempotent.js';
import { ReadsBody } from '../../../platform/http/request/json-body.js';
import { ReadsQuery } from '../../../platform/http/request/query-params.js';
import { RefusesAs, Replies } from '../../../platform/http/reply/replies.js';
import { CompletionDto, VendorErrorReply } from '../llm.dto.js';
import { COMPLETION_CODES, VENDOR_ANSWER } from './completion-codes.js';
import { VendorQuery } from './vendor-query.js';
import { WireCallsService } from './wire-calls.service.js';

@ApiTags('Language models')
@RefusesAs(VendorErrorReply)
@Controller('api/v1/llm')
export class OpenAiController {
  constructor(private readonly calls: WireCallsService) {}

  @Post('chat/completions')
  @ApiOperation({
    operationId: 'llm.chatCompletions',
    summary: "Ask a model, in OpenAI's format",
    description:
      'Body, answer and stream are those of chat completions; errors have that form, too. Where a person has to decide first the answer ' +
      'is 409 `HITL_PENDING`; with `?wait=` the call is held.',
  })
  @Access('llm.invoke')
  @Idempotent('llm.invoke')
  @ReadsQuery(VendorQuery)
  @ReadsBody(CompletionDto)
  @ApiResponse(VENDOR_ANSWER)
  @Replies(200, null, ...COMPLETION_CODES)
  complete(@Req() request: Request, @Res() response: Response, @Caller() caller: VerifiedCaller): Promise<void> {
    return this.calls.complete(request, response, 'openai', caller);
  }
}
