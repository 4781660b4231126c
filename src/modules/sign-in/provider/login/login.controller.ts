import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { returnPath } from '../../../../domain/access/return-path.js';
import { Access } from '../../../../platform/auth/access/access.decorator.js';
import { PageRoute } from '../../../../platform/http/request/browser-routes.js';
import { QueryParams } from '../../../../platform/http/request/query-params.js';
import { Replies, type Reply, reply } from '../../../../platform/http/reply/replies.js';
import { BeginLoginService } from './begin-login.service.js';
import { CallbackService } from './callback.service.js';
import { LoginCookies } from './login-cookies.js';
import { OpenSessionService } from './open-session.service.js';
import { CallbackQuery, LoginQuery } from './login.dto.js';

@ApiTags('Pages and forms')
@Controller('api/v1/auth')
export class LoginController {
  constructor(
    private readonly begins: BeginLoginService,
    private readonly callbacks: CallbackService,
    private readonly opens: OpenSessionService,
    private readonly cookies: LoginCookies,
  ) {}

  @Get('login')
  @ApiOperation({
    operationId: 'auth.login',
    summary: 'Sign in at the identity provider',
    description: 'For browsers: leads to the provider (authorization code with PKCE S256), and from there to the callback.',
  })
  @Access('public')
  @PageRoute()
  @Replies(302, null, 'NOT_FOUND')
  async login(
    @Req() request: Request, @Res({ passthrough: true }) response: Response, @QueryParams(LoginQuery) { returnTo }: LoginQuery,
  ): Promise<Reply<undefined>> {
    const { checks, url } = await this.begins.begin();
    this.cookies.give(request, response, checks, returnPath(returnTo));
    return reply(302, undefined, { Location: url.href });
  }

  @Get('callback')
  @ApiOperation({
    operationId: 'auth.callback',
    summary: 'Come back from the identity provider',
    description: 'For browsers: exchanges the code, gives the browser its session, and leads to where the sign-in was begun for.',
  })
  @Access('public')
  @PageRoute()
  @Replies(303, null, 'NOT_FOUND', 'UNAUTHENTICATED', 'FORBIDDEN', 'TIER_REQUIRED', 'PROVIDER_ERROR', 'PROVIDER_TIMEOUT')
  async callback(
    @Req() request: Request, @Res({ passthrough: true }) response: Response, @QueryParams(CallbackQuery) { state }: CallbackQuery,
  ): Promise<Reply<undefined>> {
    const returned = await this.callbacks.accept(request, this.cookies.take(request, response, state));
    const { cookie } = await this.opens.open(request, returned);
    response.append('Set-Cookie', cookie);
    return reply(303, undefined, { Location: returned.returnTo });
  }
}
