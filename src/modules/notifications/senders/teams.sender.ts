import { Injectable } from '@nestjs/common';
import { teamsCard } from '../../../domain/notifications/teams-card.js';
import { OutboundGuard } from '../../../platform/outbound/outbound-guard.js';
import { Pace } from './pace.js';
import { outcomeOfPost, postOf } from './post-outcome.js';
import type { ChannelSender, Outgoing, SendOutcome } from './sender.js';

/** Teams takes four a second for each webhook. */
const APART_MS = 250;

/** Posts cards to a Workflows webhook of Microsoft Teams. */
@Injectable()
export class TeamsSender implements ChannelSender<'teams'> {
  readonly channel = 'teams';
  private readonly pace = new Pace(APART_MS);

  constructor(private readonly guard: OutboundGuard) {}

  async send({ message, config: { settings, source } }: Outgoing<'teams'>): Promise<SendOutcome> {
    const body = JSON.stringify(teamsCard(message));
    await this.pace.turn(settings.webhookUrl);
    return outcomeOfPost(await this.guard.fetch(settings.webhookUrl, postOf({ body, trusted: source === 'environment' })));
  }
}
