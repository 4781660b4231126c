import { Controller, Post, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { Access } from '../../../../platform/auth/access/access.decorator.js';
import { FormRoute } from '../../../../platform/http/request/browser-routes.js';
import { formFields } from '../../../../platform/http/request/form-fields.js';
import { Replies } from '../../../../platform/http/reply/replies.js';
import { BackchannelService } from './backchannel.service.js';

@ApiTags('Pages and forms')
@Controller('api/v1/auth')
export class BackchannelController {
  constructor(private readonly logouts: BackchannelService) {}

  @Post('backchannel-logout')
  @ApiOperation({
    operationId: 'auth.backchannelLogout',
    summary: 'Take a logout of the identity provider',
    description: 'For the provider (OpenID Connect Back-Channel Logout 1.0): a form with a `logout_token`, which is the credential.',
  })
  @Access('public')
  @FormRoute()
  @Replies(200, null)
  logout(@Req() request: Request): Promise<void> {
    return this.logouts.logout(request, formFields(request)['logout_token']);
  }
}
