import { Controller, Delete, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Access, Caller } from '../../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../../platform/auth/access/principal.js';
import { JsonBody } from '../../../../platform/http/request/json-body.js';
import { PathParam } from '../../../../platform/http/request/path-param.js';
import { Replies } from '../../../../platform/http/reply/replies.js';
import { AddPasskey } from './add-passkey.service.js';
import { OwnPasskeys } from './own-passkeys.service.js';
import { AddPasskeyDto, PasskeyOptionsDto } from '../passkeys.dto.js';
import { PasskeyEnvelope, PasskeyListReply, PasskeyOptionsReply } from '../passkeys.presenter.js';

@ApiTags('Sign-in')
@Controller('api/v1/auth/passkeys')
export class OwnPasskeysController {
  constructor(
    private readonly passkeys: OwnPasskeys,
    private readonly adding: AddPasskey,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'passkeys.list', summary: 'List own passkeys', description: 'Newest first.' })
  @Access('sign-in.read-self')
  @Replies(200, PasskeyListReply)
  list(@Caller() caller: VerifiedCaller): Promise<PasskeyListReply> {
    return this.passkeys.list(caller);
  }

  @Post('options')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'passkeys.addOptions',
    summary: 'What an authenticator is asked for a new passkey',
    description: 'For `navigator.credentials.create`. From a session of at most ten minutes, or with the present password.',
  })
  @Access('sign-in.write-self')
  @Replies(200, PasskeyOptionsReply, 'CONFLICT')
  options(
    @JsonBody(PasskeyOptionsDto) body: PasskeyOptionsDto, @Caller() caller: VerifiedCaller, @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ) {
    return this.adding.options(request, response, caller, body);
  }

  @Post()
  @ApiOperation({
    operationId: 'passkeys.add',
    summary: 'Add a passkey',
    description: 'The answer to what the authenticator was asked, by the same browser.',
  })
  @Access('sign-in.write-self')
  @Replies(201, PasskeyEnvelope, 'CONFLICT')
  add(@JsonBody(AddPasskeyDto) body: AddPasskeyDto, @Caller() caller: VerifiedCaller, @Req() request: Request) {
    return this.adding.add(request, caller, body);
  }

  @Delete(':id')
  @ApiOperation({ operationId: 'passkeys.remove', summary: 'Remove a passkey', description: 'The last way to sign in stays.' })
  @Access('sign-in.write-self')
  @Replies(204, null, 'CONFLICT')
  remove(@PathParam('id', 'pky') id: string, @Caller() caller: VerifiedCaller) {
    return this.passkeys.remove(id, caller);
  }
}
