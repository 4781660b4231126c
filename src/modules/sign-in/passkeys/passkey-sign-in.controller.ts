import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Access } from '../../../platform/auth/access/access.decorator.js';
import { SameSiteRoute } from '../../../platform/http/request/browser-routes.js';
import { JsonBody } from '../../../platform/http/request/json-body.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { PasskeySignInDto } from './passkeys.dto.js';
import { PasskeyOptionsReply, PasskeySignInReply } from './passkeys.presenter.js';
import { SignInByPasskey } from './sign-in-by-passkey.service.js';

@ApiTags('Sign-in')
@Controller('api/v1/auth/passkey')
export class PasskeySignInController {
  constructor(private readonly signIn: SignInByPasskey) {}

  @Post('options')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'passkeys.signInOptions',
    summary: 'What an authenticator is asked',
    description: 'For `navigator.credentials.get`, from a page of this service. It names no passkeys: nobody learns who has one.',
  })
  @Access('public')
  @SameSiteRoute()
  @Replies(200, PasskeyOptionsReply, 'NOT_FOUND')
  options(@Req() request: Request, @Res({ passthrough: true }) response: Response) {
    return this.signIn.options(request, response);
  }

  @Post()
  @HttpCode(200)
  @ApiOperation({
    operationId: 'passkeys.signIn',
    summary: 'Sign in by a passkey',
    description: 'From a page of this service. Sets the cookie of a new session.',
  })
  @Access('public')
  @SameSiteRoute()
  @Replies(200, PasskeySignInReply, 'UNAUTHENTICATED')
  comeIn(
    @JsonBody(PasskeySignInDto) body: PasskeySignInDto, @Req() request: Request, @Res({ passthrough: true }) response: Response,
  ): Promise<PasskeySignInReply> {
    return this.signIn.comeIn(request, response, body);
  }
}
