import { Controller, Delete, Get, Post, Put } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { JsonBody } from '../../../platform/http/request/json-body.js';
import { PathParam } from '../../../platform/http/request/path-param.js';
import { QueryParams } from '../../../platform/http/request/query-params.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { ChannelDto, ChannelQuery } from './channels.dto.js';
import { ChannelEnvelope, ChannelTestReply } from './channels.presenter.js';
import { ConfigureChannelService } from './configure-channel.service.js';
import { TryChannelService } from './try-channel.service.js';

const IN_THE_WAY = 'A channel is `email`, `slack`, `teams`, `webhook` or `in_app`.';

@ApiTags('Notifications')
@Controller('api/v1/notifications/config')
export class ChannelsController {
  constructor(
    private readonly channels: ConfigureChannelService,
    private readonly trying: TryChannelService,
  ) {}

  @Get(':channel')
  @ApiOperation({ summary: 'How a channel is set up', description: `${IN_THE_WAY} Of one that is not set up: 404.` })
  @Access('channels.read')
  @Replies(200, ChannelEnvelope)
  get(@PathParam('channel') channel: string, @QueryParams(ChannelQuery) query: ChannelQuery, @Caller() caller: VerifiedCaller) {
    return this.channels.show(channel, query.organizationId, caller);
  }

  @Put(':channel')
  @ApiOperation({
    summary: 'Set up a channel',
    description: `${IN_THE_WAY} It replaces what the environment says. Settings that are left out stay, recipients and events do not.`,
  })
  @Access('channels.write')
  @Replies(200, ChannelEnvelope, 'CHANNEL_ALWAYS_ON', 'UNSAFE_URL')
  set(
    @PathParam('channel') channel: string,
    @JsonBody(ChannelDto) body: ChannelDto,
    @QueryParams(ChannelQuery) query: ChannelQuery,
    @Caller() caller: VerifiedCaller,
  ) {
    return this.channels.set(channel, body, query.organizationId, caller);
  }

  @Delete(':channel')
  @ApiOperation({ summary: 'Forget how a channel was set up', description: 'Then what the environment says counts again.' })
  @Access('channels.write')
  @Replies(204, null)
  remove(@PathParam('channel') channel: string, @QueryParams(ChannelQuery) query: ChannelQuery, @Caller() caller: VerifiedCaller) {
    return this.channels.remove(channel, query.organizationId, caller);
  }

  @Post(':channel/test')
  @ApiOperation({
    summary: 'Try a channel',
    description: 'Sends a message about nothing, now, also through a channel that is off, and says what came of it. A mail goes to you.',
  })
  @Access('channels.write')
  @Replies(200, ChannelTestReply, 'CONFLICT')
  test(@PathParam('channel') channel: string, @QueryParams(ChannelQuery) query: ChannelQuery, @Caller() caller: VerifiedCaller) {
    return this.trying.test(channel, query.organizationId, caller);
  }
}
