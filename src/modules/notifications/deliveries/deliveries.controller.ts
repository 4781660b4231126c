import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { pageRequest } from '../../../platform/http/fields/pagination.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { PathParam } from '../../../platform/http/request/path-param.js';
import { QueryParams } from '../../../platform/http/request/query-params.js';
import { DeliveriesQuery } from './deliveries.query.js';
import { DeliveryEnvelope, DeliveryListQuery, DeliveryListReply, presentDelivery } from './deliveries.dto.js';
import { RetryDeliveryService } from './retry-delivery.service.js';

const DEFAULT_LIMIT = 100;

@ApiTags('Notifications')
@Controller('api/v1/notifications/deliveries')
export class DeliveriesController {
  constructor(
    private readonly deliveries: DeliveriesQuery,
    private readonly retrying: RetryDeliveryService,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'List deliveries',
    description: 'What went, and is to go, to the channels outside; newest first. Ended ones are kept for 30 days.',
  })
  @Access('channels.read')
  @Replies(200, DeliveryListReply)
  async list(@QueryParams(DeliveryListQuery) query: DeliveryListQuery, @Caller() caller: VerifiedCaller): Promise<DeliveryListReply> {
    const { rows, total, nextCursor } = await this.deliveries.list(caller.scope, query, pageRequest(query, DEFAULT_LIMIT));
    return { deliveries: rows.map(presentDelivery), total, ...(nextCursor ? { nextCursor } : {}) };
  }

  @Post(':id/retry')
  @HttpCode(200)
  @ApiOperation({ summary: 'Try a delivery again that was given up', description: 'For another day, under the same id. Others: 409.' })
  @Access('channels.write')
  @Replies(200, DeliveryEnvelope, 'CONFLICT')
  retry(@PathParam('id', 'dlv') id: string, @Caller() caller: VerifiedCaller): Promise<DeliveryEnvelope> {
    return this.retrying.retry(id, caller);
  }
}
