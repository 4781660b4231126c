import { Controller, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access } from '../../platform/auth/access/access.decorator.js';
import { JsonBody } from '../../platform/http/request/json-body.js';
import { Replies } from '../../platform/http/reply/replies.js';
import { VerifyTokenDto } from './tenants.dto.js';
import { VerifyTokenReply } from './verify-token.presenter.js';
import { VerifyTokenService } from './verify-token.service.js';

@ApiTags('Internal')
@Controller('internal/v1/auth')
export class VerifyTokenController {
  constructor(private readonly tokens: VerifyTokenService) {}

  @Post('verify')
  @ApiOperation({
    operationId: 'internalAuth.verifyToken',
    summary: 'Verify a token of the identity provider',
    description: 'Makes no account. A token that does not hold, or opens nothing here, is a 400 that says why.',
  })
  @Access('tenants.verify')
  @Replies(200, VerifyTokenReply)
  verify(@JsonBody(VerifyTokenDto) body: VerifyTokenDto) {
    return this.tokens.verify(body.token);
  }
}
