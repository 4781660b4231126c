import { Controller, Get, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Access } from '../../../../platform/auth/access/access.decorator.js';
import { FormRoute, PageRoute, SameSiteRoute } from '../../../../platform/http/request/browser-routes.js';
import { PathParam } from '../../../../platform/http/request/path-param.js';
import { Replies } from '../../../../platform/http/reply/replies.js';
import { InvitationPages } from './invitation-pages.service.js';

@ApiTags('Pages and forms')
@Controller('invitations')
export class InvitationPagesController {
  constructor(private readonly pages: InvitationPages) {}

  @Get(':token')
  @ApiOperation({ summary: 'The page of an invitation', description: 'For browsers. Looking at it uses nothing up.' })
  @Access('public')
  @PageRoute()
  @Replies(200, null)
  show(@PathParam('token') token: string, @Req() request: Request, @Res({ passthrough: true }) response: Response) {
    return this.pages.show(token, request, response);
  }

  @Post(':token')
  @ApiOperation({
    summary: 'Take an invitation with a password',
    description: "The page's own form: `password`, `formToken`. Makes the account, and leads on with a session.",
  })
  @Access('public')
  @PageRoute()
  @FormRoute()
  @SameSiteRoute()
  @Replies(303, null, 'TIER_REQUIRED')
  @Replies(400, null)
  @Replies(409, null)
  @Replies(503, null)
  accept(@PathParam('token') token: string, @Req() request: Request, @Res({ passthrough: true }) response: Response) {
    return this.pages.accept(token, request, response);
  }
}
