import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { pageRequest } from '../../../platform/http/fields/pagination.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { PathParam } from '../../../platform/http/request/path-param.js';
import { QueryParams } from '../../../platform/http/request/query-params.js';
import { InboxListQuery, InboxReply, ReadReply } from './inbox.dto.js';
import { InboxService } from './inbox.service.js';

const DEFAULT_LIMIT = 100;

@ApiTags('Notifications')
@Controller('api/v1/notifications')
export class InboxController {
  constructor(private readonly inbox: InboxService) {}

  @Get()
  @ApiOperation({
    summary: 'Your notifications',
    description: 'Newest first, with the number of unread ones. `?wait=` holds the answer until there is something unread.',
  })
  @Access('inbox.read-self')
  @Replies(200, InboxReply)
  list(@QueryParams(InboxListQuery) query: InboxListQuery, @Caller() caller: VerifiedCaller): Promise<InboxReply> {
    return this.inbox.list(query, pageRequest(query, DEFAULT_LIMIT), caller);
  }

  @Post(':id/read')
  @HttpCode(200)
  @ApiOperation({ summary: 'Mark a notification as read', description: 'Again: the same answer. Read ones are kept for 90 days.' })
  @Access('inbox.read-self')
  @Replies(200, ReadReply)
  read(@PathParam('id', 'ntf') id: string, @Caller() caller: VerifiedCaller): Promise<ReadReply> {
    return this.inbox.markRead(id, caller);
  }
}
