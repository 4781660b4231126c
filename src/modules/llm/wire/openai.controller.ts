import { Controller, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { RefusesAs, Replies } from '../../../platform/http/reply/replies.js';
import { VendorErrorReply } from '../llm.dto.js';
import { COMPLETION_CODES } from './completion-codes.js';
import { CompletionRoute, inFormat } from './completion-route.js';
import { WireCallsService } from './wire-calls.service.js';

@ApiTags('Language models')
@RefusesAs(VendorErrorReply)
@Controller('api/v1/llm')
export class OpenAiController {
  constructor(private readonly calls: WireCallsService) {}

  @Post('chat/completions')
  @CompletionRoute({
    operationId: 'llm.chatCompletions', summary: "Ask a model, in OpenAI's format", description: inFormat('chat completions'),
  })
  @Access('llm.invoke')
  @Replies(200, null, ...COMPLETION_CODES)
  complete(@Req() request: Request, @Res() response: Response, @Caller() caller: VerifiedCaller): Promise<void> {
    return this.calls.complete(request, response, 'openai', caller);
  }
}
