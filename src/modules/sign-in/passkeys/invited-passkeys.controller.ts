import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Access } from '../../../platform/auth/access/access.decorator.js';
import { SameSiteRoute } from '../../../platform/http/request/browser-routes.js';
import { JsonBody } from '../../../platform/http/request/json-body.js';
import { PathParam } from '../../../platform/http/request/path-param.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { InvitedPasskeys } from './invited-passkeys.service.js';
import { InvitedPasskeyDto } from './passkeys.dto.js';
import { PasskeyOptionsReply, PasskeySignInReply } from './passkeys.presenter.js';

@ApiTags('Sign-in')
@Controller('api/v1/auth/invitations/:token/passkey')
export class InvitedPasskeysController {
  constructor(private readonly passkeys: InvitedPasskeys) {}

  @Post('options')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'passkeys.invitationOptions',
    summary: 'What an authenticator is asked by an invitation', description: 'For `navigator.credentials.create`. Uses nothing up.',
  })
  @Access('public')
  @SameSiteRoute()
  @Replies(200, PasskeyOptionsReply)
  options(@PathParam('token') token: string, @Req() request: Request, @Res({ passthrough: true }) response: Response) {
    return this.passkeys.options(token, request, response);
  }

  @Post()
  @HttpCode(200)
  @ApiOperation({
    operationId: 'passkeys.acceptInvitation',
    summary: 'Take an invitation with a passkey', description: 'Makes the account and the passkey, and sets the cookie of a session.',
  })
  @Access('public')
  @SameSiteRoute()
  @Replies(200, PasskeySignInReply, 'CONFLICT', 'TIER_REQUIRED')
  accept(
    @PathParam('token') token: string, @JsonBody(InvitedPasskeyDto) body: InvitedPasskeyDto, @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<PasskeySignInReply> {
    return this.passkeys.accept(token, request, response, body);
  }
}
