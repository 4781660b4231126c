import { Controller, Get, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Access } from '../../../platform/auth/access/access.decorator.js';
import { FormRoute, PageRoute, SameSiteRoute } from '../../../platform/http/request/browser-routes.js';
import { PathParam } from '../../../platform/http/request/path-param.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { DecisionPages } from './decision-pages.service.js';

const SHOWN = {
  summary: 'The page on which a person decides',
  description: 'For browsers, without scripts. Opening it decides nothing and uses nothing up. Whoever is not signed in is led to the '
    + 'sign-in page (303), but by a link of a mail (`token`) that decides.',
};

const DECIDES = {
  summary: 'Decide by form',
  description: "The page's own form: `decision` (`approve`, `reject`), `note`, `digest` of what was shown, `formToken`; `breakGlass`, "
    + '`token` of a mail. Answers with the page that says what stands now. A form that chooses nothing is 400 and spends nothing.',
};

@ApiTags('Pages and forms')
@Controller('hitl')
export class DecisionPagesController {
  constructor(private readonly pages: DecisionPages) {}

  @Get(':id/approve')
  @ApiOperation(SHOWN)
  @Access('public')
  @PageRoute()
  @Replies(200, null)
  @Replies(303, null)
  showApproval(@PathParam('id', 'hitl') id: string, @Req() request: Request, @Res({ passthrough: true }) response: Response) {
    return this.pages.show(id, 'approve', request, response);
  }

  @Get(':id/reject')
  @ApiOperation(SHOWN)
  @Access('public')
  @PageRoute()
  @Replies(200, null)
  @Replies(303, null)
  showRejection(@PathParam('id', 'hitl') id: string, @Req() request: Request, @Res({ passthrough: true }) response: Response) {
    return this.pages.show(id, 'reject', request, response);
  }

  @Post(':id/approve')
  @ApiOperation(DECIDES)
  @Access('public')
  @PageRoute()
  @FormRoute()
  @SameSiteRoute()
  @Replies(200, null)
  @Replies(303, null)
  @Replies(400, null)
  @Replies(403, null)
  @Replies(409, null)
  @Replies(422, null)
  @Replies(503, null)
  decideOnApproval(@PathParam('id', 'hitl') id: string, @Req() request: Request, @Res({ passthrough: true }) response: Response) {
    return this.pages.decide(id, 'approve', request, response);
  }

  @Post(':id/reject')
  @ApiOperation(DECIDES)
  @Access('public')
  @PageRoute()
  @FormRoute()
  @SameSiteRoute()
  @Replies(200, null)
  @Replies(303, null)
  @Replies(400, null)
  @Replies(403, null)
  @Replies(409, null)
  @Replies(422, null)
  @Replies(503, null)
  decideOnRejection(@PathParam('id', 'hitl') id: string, @Req() request: Request, @Res({ passthrough: true }) response: Response) {
    return this.pages.decide(id, 'reject', request, response);
  }
}
