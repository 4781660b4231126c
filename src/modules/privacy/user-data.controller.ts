import { Controller, Delete } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/access/principal.js';
import { PathParam } from '../../platform/http/request/path-param.js';
import { Replies } from '../../platform/http/reply/replies.js';
import { EraseUserService } from './execution/erase-user.service.js';
import { ErasedUserReply } from './erasures.presenter.js';

@ApiTags('Organizations and people')
@Controller('api/v1/users')
export class UserDataController {
  constructor(private readonly erasing: EraseUserService) {}

  @Delete(':id/data')
  @ApiOperation({
    operationId: 'users.eraseData',
    summary: "Erase a person's data",
    description:
      'For good. Profile, keys and sessions at once, on every server; what the log and other tables hold of them is searched for, also ' +
      'behind the answer, whose counts are those so far. What only their name or an address of theirs is met in waits for a second ' +
      'administrator where it is of a decision, or over 100 values (`unconfirmed`, `POST /audit/erasures/:id/confirm`). It reaches ' +
      'as far as you do: the platform\'s own log is searched when root asks. Repeating it answers zeros.',
  })
  @Access('privacy.erase')
  @Replies(200, ErasedUserReply, 'CONFLICT')
  erase(@PathParam('id', 'usr') id: string, @Caller() caller: VerifiedCaller): Promise<ErasedUserReply> {
    return this.erasing.erase(id, caller);
  }
}
