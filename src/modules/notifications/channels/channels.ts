import type { NotificationEvent, Recipient } from '../../../domain/notifications/events.js';
import type { ChannelConfig } from './channel-config.js';

/** What an organization has set for its inboxes: they are always on. */
export interface InboxConfig {
  readonly organizationId: string;
  readonly events: readonly NotificationEvent[] | null;
  readonly recipients: readonly Recipient[];
}

export interface OrganizationChannels {
  /** Those that are on. */
  readonly external: readonly ChannelConfig[];
  readonly inbox: InboxConfig;
}

/** The channels of organizations as they are now: what the API has set, else what the environment says. */
export abstract class Channels {
  abstract of(organizationIds: readonly string[]): Promise<ReadonlyMap<string, OrganizationChannels>>;
  /** Switches a channel off whose receiver does not want any more (410), and records it; not one that was set anew meanwhile. */
  abstract switchOff(config: ChannelConfig, because: string): Promise<void>;
}
