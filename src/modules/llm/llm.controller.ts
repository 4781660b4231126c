import { Controller, Get, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Access, Caller } from '../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/access/principal.js';
import { Idempotent } from '../../platform/http/request/idempotent.js';
import { ReadsBody } from '../../platform/http/request/json-body.js';
import { QueryParams, ReadsQuery } from '../../platform/http/request/query-params.js';
import { Replies } from '../../platform/http/reply/replies.js';
import { WaitQuery } from '../executions/executions.dto.js';
import { GatePending } from '../gate/gate.dto.js';
import { ChatService } from './chat.service.js';
import { ChatDto, ChatReply, ScanDto, ScanReply, UsageQuery, LlmUsageReply } from './llm.dto.js';
import { UsageService } from './usage.service.js';
import { COMPLETION_CODES } from './wire/completion-codes.js';

@ApiTags('Language models')
@Controller('api/v1/llm')
export class LlmController {
  constructor(
    private readonly chats: ChatService,
    private readonly usages: UsageService,
  ) {}

  @Post('chat')
  @ApiOperation({
    operationId: 'llm.chat',
    summary: 'Ask a model',
    description:
      'Of either family, chosen by the name of the model. Personal data is found before anything leaves. Where a person has to decide ' +
      'first the answer is 202, and the model\'s is then the `output` of `GET /api/v1/executions/:id`.',
  })
  @Access('llm.invoke')
  @Idempotent('llm.invoke')
  @ReadsQuery(WaitQuery)
  @ReadsBody(ChatDto)
  @Replies(200, ChatReply, ...COMPLETION_CODES)
  @Replies(202, GatePending)
  chat(@Req() request: Request, @Res({ passthrough: true }) response: Response, @Caller() caller: VerifiedCaller) {
    return this.chats.chat(request, response, caller);
  }

  @Post('scan')
  @ApiOperation({
    operationId: 'llm.scan',
    summary: 'Scan a text for personal data',
    description: "As calls of the caller's organization are scanned. Nothing is sent, and nothing is kept.",
  })
  @Access('llm.invoke')
  @ReadsBody(ScanDto)
  @Replies(200, ScanReply)
  scan(@Req() request: Request, @Caller() caller: VerifiedCaller) {
    return this.chats.scan(request, caller);
  }

  @Get('usage')
  @ApiOperation({
    operationId: 'llm.usage',
    summary: 'Read what models were used',
    description: 'By day, agent and model, from the executions: it reaches back as far as these are kept.',
  })
  @Access('llm.usage')
  @Replies(200, LlmUsageReply)
  usage(@QueryParams(UsageQuery) query: UsageQuery, @Caller() caller: VerifiedCaller) {
    return this.usages.read(query, caller);
  }
}
