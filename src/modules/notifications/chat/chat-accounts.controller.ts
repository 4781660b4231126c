import { Controller, Delete, Get } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { PathParam } from '../../../platform/http/request/path-param.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { ChatAccountsService } from './chat-accounts.service.js';

class ChatAccountReply {
  @ApiProperty({ example: 'cha_…' }) id!: string;
  @ApiProperty({ enum: ['slack'] }) chat!: string;
  @ApiProperty({ description: "The workspace's id in the chat." }) workspace!: string;
  @ApiProperty({ description: "The person's id in the chat." }) chatUser!: string;
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
}

class ChatAccountListReply {
  @ApiProperty({ type: ChatAccountReply, isArray: true }) chatAccounts!: ChatAccountReply[];
  @ApiProperty({ type: 'integer' }) total!: number;
}

@ApiTags('Notifications')
@Controller('api/v1/notifications/chat-accounts')
export class ChatAccountsController {
  constructor(private readonly accounts: ChatAccountsService) {}

  @Get()
  @ApiOperation({
    summary: 'List your chat accounts',
    description: 'Newest first, all of them. Buttons in a chat decide as you where they are pressed by one of these.',
  })
  @Access('chat-accounts.manage-self')
  @Replies(200, ChatAccountListReply)
  async list(@Caller() caller: VerifiedCaller): Promise<ChatAccountListReply> {
    const accounts = await this.accounts.list(caller);
    const chatAccounts = accounts.map(({ createdAt, ...rest }) => ({ ...rest, createdAt: createdAt.toISOString() }));
    return { chatAccounts, total: chatAccounts.length };
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Remove one of your chat accounts', description: 'At once, on every replica: nobody decides as you by it.' })
  @Access('chat-accounts.manage-self')
  @Replies(204, null)
  remove(@PathParam('id', 'cha') id: string, @Caller() caller: VerifiedCaller) {
    return this.accounts.remove(id, caller);
  }
}
