import { Controller, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { ReadsBody } from '../../../platform/http/request/json-body.js';
import { ReadsQuery } from '../../../platform/http/request/query-params.js';
import { RefusesAs, Replies } from '../../../platform/http/reply/replies.js';
import { CompletionDto, VendorErrorReply } from '../llm.dto.js';
import { COMPLETION_CODES, VENDOR_ANSWER } from './completion-codes.js';
import { CompletionRoute, inFormat } from './completion-route.js';
import { CountTokensService } from './count-tokens.service.js';
import { VendorQuery } from './vendor-query.js';
import { WireCallsService } from './wire-calls.service.js';

const SUMMARY = "Ask a model, in Anthropic's format";

/** Both with the `/v1` that the vendor's client puts behind its base URL, and without. */
@ApiTags('Language models')
@RefusesAs(VendorErrorReply)
@Controller('api/v1/llm')
export class AnthropicController {
  constructor(
    private readonly calls: WireCallsService,
    private readonly tokens: CountTokensService,
  ) {}

  @Post('messages')
  @CompletionRoute({ operationId: 'llm.messages', summary: SUMMARY, description: inFormat('messages') })
  @Access('llm.invoke')
  @Replies(200, null, ...COMPLETION_CODES)
  complete(@Req() request: Request, @Res() response: Response, @Caller() caller: VerifiedCaller): Promise<void> {
    return this.calls.complete(request, response, 'anthropic', caller);
  }

  @Post('v1/messages')
  @CompletionRoute({
    operationId: 'llm.messagesByOtherPath', summary: SUMMARY, description: 'The same as `POST /api/v1/llm/messages`.',
  })
  @Access('llm.invoke')
  @Replies(200, null, ...COMPLETION_CODES)
  completeByOtherPath(@Req() request: Request, @Res() response: Response, @Caller() caller: VerifiedCaller): Promise<void> {
    return this.calls.complete(request, response, 'anthropic', caller);
  }

  @Post('v1/messages/count_tokens')
  @ApiOperation({
    operationId: 'llm.countTokens',
    summary: 'Count the tokens of a call',
    description:
      "In Anthropic's format. The call is scanned as one for a completion, the gate is asked whether it might be made, and nothing is " +
      'recorded.',
  })
  @Access('llm.invoke')
  @ReadsQuery(VendorQuery)
  @ReadsBody(CompletionDto)
  @ApiResponse(VENDOR_ANSWER)
  @Replies(200, null, ...COMPLETION_CODES)
  count(@Req() request: Request, @Res() response: Response, @Caller() caller: VerifiedCaller): Promise<void> {
    return this.tokens.count(request, response, caller);
  }
}
