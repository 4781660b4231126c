import { Controller, Get, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Access } from '../../../platform/auth/access/access.decorator.js';
import { FormRoute, PageRoute, SameSiteRoute } from '../../../platform/http/request/browser-routes.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { SignInPages } from './sign-in-pages.service.js';

@ApiTags('Pages and forms')
@Controller('sign-in')
export class SignInPagesController {
  constructor(private readonly pages: SignInPages) {}

  @Get()
  @ApiOperation({
    summary: 'The sign-in page',
    description: 'For browsers. Whoever is signed in sees who they are, and how they sign in. `returnTo`: a path of this service to go '
      + 'on to.',
  })
  @Access('public')
  @PageRoute()
  @Replies(200, null)
  show(@Req() request: Request, @Res({ passthrough: true }) response: Response) {
    return this.pages.show(request, response);
  }

  @Post()
  @ApiOperation({
    summary: 'Sign in by password',
    description: "The page's own form: `email`, `password`, `returnTo`, `formToken`, and `organization` where the address has accounts in "
      + 'several. Leads on with a session, or shows the page again.',
  })
  @Access('public')
  @PageRoute()
  @FormRoute()
  @SameSiteRoute()
  @Replies(303, null)
  @Replies(200, null)
  @Replies(401, null)
  @Replies(429, null)
  @Replies(503, null)
  comeIn(@Req() request: Request, @Res({ passthrough: true }) response: Response) {
    return this.pages.comeIn(request, response);
  }
}
