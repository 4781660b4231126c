import { ApiProperty } from '@nestjs/swagger';
import { CHANNELS, type Channel, NOTIFICATION_EVENTS, type Recipient } from '../../../domain/notifications/events.js';
import type { SendOutcome } from '../senders/sender.js';
import { masked, type StoredSettings } from './channel-settings.js';
import type { StoredChannel } from './channel.store.js';

export class RecipientReply {
  @ApiProperty({ required: false }) userId?: string;
  @ApiProperty({ required: false }) teamId?: string;
  @ApiProperty({ required: false }) role?: string;
}

export class ChannelReply {
  @ApiProperty({ enum: CHANNELS }) channel!: string;
  @ApiProperty() enabled!: boolean;
  @ApiProperty({
    type: Object, additionalProperties: { type: 'string' }, description: 'Secrets read `********`; of an address the origin is shown.',
  })
  settings!: Record<string, string>;
  @ApiProperty({ type: RecipientReply, isArray: true }) recipients!: readonly Recipient[];
  @ApiProperty({ enum: NOTIFICATION_EVENTS, isArray: true, nullable: true, description: 'Null: all of them.' })
  events!: readonly string[] | null;
  @ApiProperty({ enum: ['api', 'environment'], description: 'What the API sets replaces the environment.' }) source!: string;
  @ApiProperty({
    required: false, description: 'Why it is off: what its receiver answered (`HTTP_410`), or `UNREADABLE` where its settings do not open.',
  })
  offBecause?: string;
}

export class ChannelEnvelope {
  @ApiProperty({ type: ChannelReply }) config!: ChannelReply;
}

export class ChannelTestReply {
  @ApiProperty({ enum: ['delivered', 'retry', 'dead', 'gone'], description: '`retry`: it may work later. `gone`: nobody wants it there.' })
  outcome!: string;
  @ApiProperty({ required: false, description: 'What went wrong, by a code.', example: 'HTTP_500' }) code?: string;
}

export function presentChannel({ channel, enabled, settings, recipients, events, offBecause }: StoredChannel): ChannelEnvelope {
  const because = settings === undefined ? 'UNREADABLE' : offBecause;
  return {
    config: {
      channel, enabled: enabled && settings !== undefined, settings: masked(channel, settings ?? {}), recipients, events, source: 'api',
      ...(because === null ? {} : { offBecause: because }),
    },
  };
}

export function presentEnvironment(channel: Channel, settings: StoredSettings): ChannelEnvelope {
  return { config: { channel, enabled: true, settings: masked(channel, settings), recipients: [], events: null, source: 'environment' } };
}

export function presentOutcome(outcome: SendOutcome): ChannelTestReply {
  return { outcome: outcome.kind, ...('code' in outcome ? { code: outcome.code } : {}) };
}
