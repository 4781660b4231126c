import { Controller, Put } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { JsonBody } from '../../../platform/http/request/json-body.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { ChangePasswordService } from './change-password.service.js';
import { ChangePasswordDto } from './passwords.dto.js';

@ApiTags('Sign-in')
@Controller('api/v1/auth')
export class PasswordsController {
  constructor(private readonly changes: ChangePasswordService) {}

  @Put('password')
  @ApiOperation({
    operationId: 'auth.changePassword',
    summary: 'Set your password',
    description: 'By a session that is at most ten minutes old, or with the present password. Your other sessions end. Without an '
      + 'identity provider only: 404 with one.',
  })
  @Access('sign-in.write-self')
  @Replies(204, null, 'CONFLICT')
  change(@JsonBody(ChangePasswordDto) body: ChangePasswordDto, @Caller() caller: VerifiedCaller) {
    return this.changes.change(body, caller);
  }
}
