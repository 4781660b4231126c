import { ApiProperty } from '@nestjs/swagger';
import { EXTERNAL_CHANNELS, INBOX_EVENTS, PRIORITIES } from '../../../domain/notifications/events.js';
import { Flag, Integer } from '../../../platform/http/fields/fields.js';
import { PageQuery } from '../../../platform/http/fields/pagination.js';
import type { NotificationRow } from './inbox.query.js';

export class InboxListQuery extends PageQuery {
  @Flag({ optional: true, doc: '`true`: only unread ones; `false`: only read ones.' })
  unread?: boolean;

  @Integer({ min: 0, max: 55, optional: true, doc: 'Seconds to hold the answer until something is unread.' })
  wait?: number;
}

export class NotificationReply {
  @ApiProperty({ example: 'ntf_…' }) id!: string;
  @ApiProperty({ example: 'org_…' }) organizationId!: string;
  @ApiProperty({ enum: INBOX_EVENTS }) event!: string;
  @ApiProperty({ enum: PRIORITIES }) priority!: string;
  @ApiProperty({ required: false, example: 'hitl_…' }) hitlRequestId?: string;
  @ApiProperty({ required: false, example: 'exec_…' }) executionId?: string;
  @ApiProperty({ enum: EXTERNAL_CHANNELS, required: false, description: 'Of `channel.switched_off`: its receiver answered 410.' })
  channel?: string;
  @ApiProperty({ required: false, example: 'agt_…' }) agentId?: string;
  @ApiProperty({ required: false }) agentName?: string;
  @ApiProperty({ required: false, example: 'email.send' }) capability?: string;
  @ApiProperty({ required: false, description: 'Of the request or execution, as it is now.' }) status?: string;
  @ApiProperty({ format: 'date-time', required: false, description: 'Until when the request can be decided.' }) expiresAt?: string;
  @ApiProperty({ required: false, description: 'The page on which it can be decided.' }) url?: string;
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) readAt!: string | null;
}

export class InboxReply {
  @ApiProperty({ type: NotificationReply, isArray: true }) notifications!: NotificationReply[];
  @ApiProperty({ type: 'integer' }) total!: number;
  @ApiProperty({ type: 'integer', description: 'How many are unread, on whatever page.' }) unread!: number;
  @ApiProperty({ required: false, description: 'For `cursor`, when more follow.' }) nextCursor?: string;
}

export class ReadReply {
  @ApiProperty({ example: 'ntf_…' }) id!: string;
  @ApiProperty({ format: 'date-time' }) readAt!: string;
}

/** @param url of the page on which the request can be decided, where the notification is about one */
export function presentNotification(row: NotificationRow, url: string | undefined): NotificationReply {
  const { id, organizationId, event, priority, hitlRequestId, executionId, channel, agentId, agentName } = row;
  const { capability, status, expiresAt } = row;
  return {
    id, organizationId, event, priority,
    ...(hitlRequestId === null ? {} : { hitlRequestId }), ...(executionId === null ? {} : { executionId }),
    ...(channel === null ? {} : { channel }),
    ...(agentId === null ? {} : { agentId }), ...(agentName === null ? {} : { agentName }), ...(capability === null ? {} : { capability }),
    ...(status === null ? {} : { status }), ...(expiresAt === null ? {} : { expiresAt: expiresAt.toISOString() }),
    ...(url === undefined ? {} : { url }), createdAt: row.createdAt.toISOString(), readAt: row.readAt?.toISOString() ?? null,
  };
}
