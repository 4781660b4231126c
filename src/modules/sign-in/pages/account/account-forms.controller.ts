import { Controller, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Access, Caller } from '../../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../../platform/auth/access/principal.js';
import { FormRoute, PageRoute } from '../../../../platform/http/request/browser-routes.js';
import { PathParam } from '../../../../platform/http/request/path-param.js';
import { Replies } from '../../../../platform/http/reply/replies.js';
import { AccountForms } from './account-forms.service.js';

@ApiTags('Pages and forms')
@Controller('sign-in')
export class AccountFormsController {
  constructor(private readonly forms: AccountForms) {}

  @Post('sign-out')
  @ApiOperation({ summary: 'Sign out', description: "The page's own form. Leads back, or on to the identity provider." })
  @Access('sign-in.write-self')
  @PageRoute()
  @FormRoute()
  @Replies(303, null)
  @Replies(200, null)
  signOut(@Req() request: Request, @Caller() caller: VerifiedCaller) {
    return this.forms.signOut(request, caller);
  }

  @Post('sessions/:id/end')
  @ApiOperation({ summary: 'End one of your sessions, by form' })
  @Access('sign-in.write-self')
  @PageRoute()
  @FormRoute()
  @Replies(303, null)
  endSession(@PathParam('id', 'sess') id: string, @Req() request: Request, @Caller() caller: VerifiedCaller) {
    return this.forms.endSession(request, id, caller);
  }

  @Post('passkeys/:id/remove')
  @ApiOperation({ summary: 'Remove one of your passkeys, by form', description: 'The last way to sign in stays.' })
  @Access('sign-in.write-self')
  @PageRoute()
  @FormRoute()
  @Replies(303, null)
  @Replies(409, null)
  removePasskey(
    @PathParam('id', 'pky') id: string, @Req() request: Request, @Res({ passthrough: true }) response: Response,
    @Caller() caller: VerifiedCaller,
  ) {
    return this.forms.removePasskey(request, response, id, caller);
  }

  @Post('password')
  @ApiOperation({ summary: 'Set your password, by form', description: 'Fields: `password`, and `current` where it is asked for.' })
  @Access('sign-in.write-self')
  @PageRoute()
  @FormRoute()
  @Replies(303, null)
  @Replies(400, null)
  @Replies(403, null)
  @Replies(409, null)
  @Replies(429, null)
  @Replies(503, null)
  setPassword(@Req() request: Request, @Res({ passthrough: true }) response: Response, @Caller() caller: VerifiedCaller) {
    return this.forms.setPassword(request, response, caller);
  }
}
