import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { SIGN_IN_PATH } from '../../../domain/access/return-path.js';
import { Access } from '../../../platform/auth/access/access.decorator.js';
import { PageRoute } from '../../../platform/http/request/browser-routes.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { seeOther } from './page-reply.js';

/** Addresses that people type. Both lead to the page that signs people in, and shows who is signed in their account. */
@ApiTags('Pages and forms')
@Controller()
export class FrontDoorController {
  @Get()
  @ApiOperation({
    summary: 'The front door', description: 'For browsers: leads to the sign-in page, or to the account of who is signed in.',
  })
  @Access('public')
  @PageRoute()
  @Replies(303, null)
  front() {
    return seeOther(SIGN_IN_PATH);
  }

  @Get('account')
  @ApiOperation({ summary: 'Your account', description: 'For browsers: the same as `GET /`.' })
  @Access('public')
  @PageRoute()
  @Replies(303, null)
  account() {
    return seeOther(SIGN_IN_PATH);
  }
}
