import { Injectable } from '@nestjs/common';
import type { ExternalChannel } from '../../../domain/notifications/events.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { EmailSender } from './email.sender.js';
import type { Outgoing, SendOutcome } from './sender.js';
import { SlackSender } from './slack.sender.js';
import { TeamsSender } from './teams.sender.js';
import { WebhookSender } from './webhook.sender.js';

/** Sends a message by the sender of its channel. */
@Injectable()
export class Senders {
  constructor(
    private readonly email: EmailSender,
    private readonly slack: SlackSender,
    private readonly teams: TeamsSender,
    private readonly webhook: WebhookSender,
    private readonly metrics: Metrics,
  ) {}

  async send(outgoing: Outgoing): Promise<SendOutcome> {
    const { channel } = outgoing.config;
    let outcome: SendOutcome['kind'] | 'error' = 'error';
    try {
      const sent = await this.sendBy(channel, outgoing);
      outcome = sent.kind;
      return sent;
    } finally {
      this.metrics.count('countersign_channel_deliveries_total', { channel, outcome });
    }
  }

  private sendBy(channel: ExternalChannel, outgoing: Outgoing): Promise<SendOutcome> {
    // The configuration's channel is the one that its settings are of.
    const by: { readonly [Of in ExternalChannel]: () => Promise<SendOutcome> } = {
      email: () => this.email.send(outgoing as Outgoing<'email'>),
      slack: () => this.slack.send(outgoing as Outgoing<'slack'>),
      teams: () => this.teams.send(outgoing as Outgoing<'teams'>),
      webhook: () => this.webhook.send(outgoing as Outgoing<'webhook'>),
    };
    return by[channel]();
  }
}
