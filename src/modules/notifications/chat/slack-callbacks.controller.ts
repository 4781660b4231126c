import { Controller, Post, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { Access } from '../../../platform/auth/access/access.decorator.js';
import { FormRoute } from '../../../platform/http/request/browser-routes.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { SlackCallbacks } from './slack-callbacks.service.js';

@ApiTags('Pages and forms')
@Controller('api/v1/notifications/callbacks')
export class SlackCallbacksController {
  constructor(private readonly callbacks: SlackCallbacks) {}

  @Post('slack')
  @ApiOperation({
    summary: "Slack's buttons",
    description: 'For Slack, as the Interactivity Request URL of its app: a form with `payload`, signed (`X-Slack-Signature`, '
      + '`X-Slack-Request-Timestamp`) by the signing secret of the organization that the request belongs to. Each signature is good '
      + 'once, for five minutes. The person must have linked their Slack account, and decides under every rule; what came of it is '
      + 'told in Slack.',
  })
  @Access('public')
  @FormRoute()
  @Replies(200, null, 'UNAUTHENTICATED', 'FORBIDDEN', 'CONFLICT', 'NOT_ELIGIBLE', 'SELF_APPROVAL')
  press(@Req() request: Request) {
    return this.callbacks.take(request);
  }
}
