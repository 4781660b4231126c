import { EmailSender } from '../senders/email.sender.js';
import { Senders } from '../senders/senders.js';
import { SlackSender } from '../senders/slack.sender.js';
import { TeamsSender } from '../senders/teams.sender.js';
import { WebhookSender } from '../senders/webhook.sender.js';
import { ChannelRecipients } from './channel-recipients.js';
import { ChannelStore } from './channel.store.js';
import { Channels } from './channels.js';
import { ChannelsController } from './channels.controller.js';
import { ChannelsReadiness } from './channels.readiness.js';
import { ConfigureChannelService } from './configure-channel.service.js';
import { EnvironmentChannels } from './environment-channels.js';
import { StoredChannels } from './stored-channels.js';
import { TryChannelService } from './try-channel.service.js';

/** How channels are set up, and what sends through them. */
export const CHANNEL_PROVIDERS = [
  EnvironmentChannels, ChannelStore, ChannelRecipients, StoredChannels, { provide: Channels, useExisting: StoredChannels },
  ConfigureChannelService, TryChannelService, ChannelsReadiness, EmailSender, SlackSender, TeamsSender, WebhookSender, Senders,
];
export const CHANNEL_CONTROLLERS = [ChannelsController];
