import { Controller, Delete, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { pageRequest } from '../../../platform/http/fields/pagination.js';
import { PathParam } from '../../../platform/http/request/path-param.js';
import { QueryParams } from '../../../platform/http/request/query-params.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { OwnSessionsService } from './own-sessions.service.js';
import { SessionListQuery } from './sessions.dto.js';
import { SessionListReply, SignedOutReply, WhoAmIReply } from './sessions.presenter.js';
import { WhoAmIService } from './who-am-i.service.js';

const DEFAULT_LIMIT = 100;

@ApiTags('Sign-in')
@Controller('api/v1/auth')
export class SessionsController {
  constructor(
    private readonly own: OwnSessionsService,
    private readonly who: WhoAmIService,
  ) {}

  @Get('me')
  @ApiOperation({
    operationId: 'auth.me', summary: 'Who you are, and what you may do', description: 'For every caller: people, agents, root.',
  })
  @Access('caller.read-self')
  @Replies(200, WhoAmIReply)
  me(@Caller() caller: VerifiedCaller): Promise<WhoAmIReply> {
    return this.who.read(caller);
  }

  @Get('sessions')
  @ApiOperation({
    operationId: 'sessions.list', summary: 'Where you are signed in', description: 'Newest first: the sessions that would let you in now.',
  })
  @Access('sign-in.read-self')
  @Replies(200, SessionListReply)
  sessions(@QueryParams(SessionListQuery) query: SessionListQuery, @Caller() caller: VerifiedCaller): Promise<SessionListReply> {
    return this.who.list(caller, pageRequest(query, DEFAULT_LIMIT));
  }

  @Delete('sessions/:id')
  @ApiOperation({ summary: 'End one of your sessions', description: 'At once, on every replica.' })
  @Access('sign-in.write-self')
  @Replies(204, null)
  end(@PathParam('id', 'sess') id: string, @Caller() caller: VerifiedCaller) {
    return this.own.revoke(id, caller);
  }

  @Post('logout')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'auth.logout',
    summary: 'Sign out',
    description: 'Ends the session that asks, here at once and on every replica. By a key or a token there is none to end.',
  })
  @Access('sign-in.write-self')
  @Replies(200, SignedOutReply)
  logout(@Caller() caller: VerifiedCaller) {
    return this.own.signOut(caller);
  }
}
