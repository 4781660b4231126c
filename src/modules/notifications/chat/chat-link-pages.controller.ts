import { Controller, Get, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { FormRoute, PageRoute } from '../../../platform/http/request/browser-routes.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { ChatLinkPages } from './chat-link-pages.service.js';

@ApiTags('Pages and forms')
@Controller('chat-accounts')
export class ChatLinkPagesController {
  constructor(private readonly pages: ChatLinkPages) {}

  @Get('link')
  @ApiOperation({
    summary: 'The page on which a chat account is linked',
    description: 'For browsers. `link`: from the chat, good for ten minutes. Whoever is not signed in is led to the sign-in page.',
  })
  @Access('public')
  @PageRoute()
  @Replies(200, null)
  @Replies(303, null)
  show(@Req() request: Request, @Res({ passthrough: true }) response: Response) {
    return this.pages.show(request, response);
  }

  @Post('link')
  @ApiOperation({
    summary: 'Link a chat account, by form', description: "The page's own form: `link`, `formToken`. Each link is good once.",
  })
  @Access('chat-accounts.manage-self')
  @PageRoute()
  @FormRoute()
  @Replies(200, null)
  @Replies(400, null)
  @Replies(409, null, 'CONFLICT')
  link(@Req() request: Request, @Res({ passthrough: true }) response: Response, @Caller() caller: VerifiedCaller) {
    return this.pages.link(request, response, caller);
  }
}
