import { Inject, Injectable } from '@nestjs/common';
import type { ExternalChannel } from '../../../domain/notifications/events.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import type { StoredSettings } from './channel-settings.js';

type Variables = Pick<
  CompleteConfig, 'smtpHost' | 'slackWebhookUrl' | 'slackBotToken' | 'slackChannel' | 'slackSigningSecret' | 'teamsWebhookUrl'
  | 'hitlWebhookUrl' | 'webhookSecret'
>;

/** Channels that the operator has switched on for every organization that has set nothing of its own. */
@Injectable()
export class EnvironmentChannels {
  private readonly settings: Readonly<Record<ExternalChannel, StoredSettings | undefined>>;

  constructor(@Inject(CONFIG) config: Variables) {
    const { slackWebhookUrl: webhookUrl, slackBotToken: botToken, slackChannel: channel, slackSigningSecret: signingSecret } = config;
    const { teamsWebhookUrl, hitlWebhookUrl: url, webhookSecret: secret } = config;
    this.settings = {
      email: config.smtpHost === undefined ? undefined : {},
      slack: webhookUrl === undefined && botToken === undefined ? undefined : { webhookUrl, botToken, channel, signingSecret },
      teams: teamsWebhookUrl === undefined ? undefined : { webhookUrl: teamsWebhookUrl },
      webhook: url === undefined ? undefined : { url, secret },
    };
  }

  /** Undefined where the environment says nothing of the channel. */
  of(channel: ExternalChannel): StoredSettings | undefined {
    return this.settings[channel];
  }

  /** Mail goes through the operator's server alone, whoever switches it on. */
  get hasMail(): boolean {
    return this.settings.email !== undefined;
  }
}
