import { ApiProperty } from '@nestjs/swagger';
import { EXTERNAL_CHANNELS, NOTIFICATION_EVENTS, PRIORITIES } from '../../../domain/notifications/events.js';
import { OneOf, Text } from '../../../platform/http/fields/fields.js';
import { PageQuery } from '../../../platform/http/fields/pagination.js';
import { DELIVERY_STATES, type DeliveryRow } from './deliveries.query.js';

export class DeliveryListQuery extends PageQuery {
  @OneOf(DELIVERY_STATES, { optional: true, doc: '`dead`: given up. `superseded`: there was nothing to ask people any more.' })
  state?: string;

  @OneOf(EXTERNAL_CHANNELS, { optional: true, doc: 'Channel.' })
  channel?: string;

  @Text({ max: 100, optional: true, doc: 'Deliveries about this request.' })
  hitlRequestId?: string;

  @Text({ max: 100, optional: true, doc: 'Narrows what the caller may see to one organization.' })
  organizationId?: string;
}

export class DeliveryReply {
  @ApiProperty({ example: 'dlv_…', description: 'Also the `webhook-id`, the same at each attempt.' }) id!: string;
  @ApiProperty({ example: 'org_…' }) organizationId!: string;
  @ApiProperty({ enum: NOTIFICATION_EVENTS }) event!: string;
  @ApiProperty({ enum: EXTERNAL_CHANNELS }) channel!: string;
  @ApiProperty({ required: false, example: 'usr_…', description: 'Of a mail: whom it is for.' }) userId?: string;
  @ApiProperty({ enum: PRIORITIES }) priority!: string;
  @ApiProperty({ required: false, example: 'hitl_…' }) hitlRequestId?: string;
  @ApiProperty({ required: false, example: 'exec_…' }) executionId?: string;
  @ApiProperty({ enum: DELIVERY_STATES }) state!: string;
  @ApiProperty({ type: 'integer' }) attempts!: number;
  @ApiProperty({ required: false, example: 'HTTP_503', description: 'What came of the last attempt, where it failed.' }) code?: string;
  @ApiProperty({ format: 'date-time' }) occurredAt!: string;
  @ApiProperty({ format: 'date-time', required: false, description: 'Of one that waits: when it is tried next.' }) nextAttemptAt?: string;
  @ApiProperty({ format: 'date-time', required: false }) endedAt?: string;
}

export class DeliveryListReply {
  @ApiProperty({ type: DeliveryReply, isArray: true }) deliveries!: DeliveryReply[];
  @ApiProperty({ type: 'integer' }) total!: number;
  @ApiProperty({ required: false, description: 'For `cursor`, when more follow.' }) nextCursor?: string;
}

export class DeliveryEnvelope {
  @ApiProperty({ type: DeliveryReply }) delivery!: DeliveryReply;
}

export function presentDelivery(row: DeliveryRow): DeliveryReply {
  const { organizationId, id, event, channel, target, priority, hitlRequestId, executionId, state, attempts, code } = row;
  return {
    id, organizationId, event, channel, priority, state, attempts, occurredAt: row.occurredAt.toISOString(),
    ...(target === '' ? {} : { userId: target }), ...(hitlRequestId === null ? {} : { hitlRequestId }),
    ...(executionId === null ? {} : { executionId }), ...(code === null ? {} : { code }),
    ...(state === 'waiting' ? { nextAttemptAt: row.availableAt.toISOString() } : {}),
    ...(row.endedAt === null ? {} : { endedAt: row.endedAt.toISOString() }),
  };
}
