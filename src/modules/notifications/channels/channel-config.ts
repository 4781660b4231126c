import type { ExternalChannel, NotificationEvent, Recipient } from '../../../domain/notifications/events.js';

export interface SlackSettings {
  /** An incoming webhook, or a bot's token with the channel to post to. */
  readonly webhookUrl?: string;
  readonly botToken?: string;
  readonly channel?: string;
  /** Verifies what Slack's buttons call back. Without it messages have links instead of buttons. */
  readonly signingSecret?: string;
}

export interface TeamsSettings {
  readonly webhookUrl: string;
}

export interface WebhookSettings {
  readonly url: string;
  /** Standard Webhooks: `whsec_` and base64, or any other text as raw bytes. */
  readonly secret: string;
  /** Signs along for a day after a change, so that receivers can change over in their own time. */
  readonly formerSecret?: string;
  /** ISO 8601. */
  readonly formerUntil?: string;
}

/** Mail goes through the operator's server alone, so there is nothing to set. */
export type EmailSettings = Readonly<Record<string, never>>;

export interface SettingsOf {
  readonly email: EmailSettings;
  readonly slack: SlackSettings;
  readonly teams: TeamsSettings;
  readonly webhook: WebhookSettings;
}

/** A channel of an organization as senders use it, with its secrets in the clear. Never logged, never answered. */
export interface ChannelConfig<Of extends ExternalChannel = ExternalChannel> {
  readonly organizationId: string;
  readonly channel: Of;
  readonly enabled: boolean;
  /** Addresses of the environment are trusted as they stand; those that came by the API are checked before each call. */
  readonly source: 'api' | 'environment';
  readonly settings: SettingsOf[Of];
  /** Null: all events. */
  readonly events: readonly NotificationEvent[] | null;
  readonly recipients: readonly Recipient[];
}
