import { Inject, Injectable } from '@nestjs/common';
import { QUESTIONS } from '../../../domain/notifications/events.js';
import type { JsonObject } from '../../../domain/json.js';
import type { Message } from '../../../domain/notifications/message.js';
import { slackAskedAgain, slackMessage } from '../../../domain/notifications/slack-message.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { OutboundGuard } from '../../../platform/outbound/outbound-guard.js';
import type { SlackSettings } from '../channels/channel-config.js';
import { outcomeOfPost, postOf } from './post-outcome.js';
import type { ChannelSender, Outgoing, SendOutcome } from './sender.js';
import { readSlackAnswer, type SlackAnswer } from './slack-answer.js';

/** To ask again takes two calls. */
const CALL_MS = 5_000;

/**
 * Posts to a channel of Slack: by an incoming webhook, or as a bot, which can change what it has posted. The message that asked then shows
 * what came of it, without buttons.
 */
@Injectable()
export class SlackSender implements ChannelSender<'slack'> {
  readonly channel = 'slack';

  constructor(
    private readonly guard: OutboundGuard,
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'slackApiUrl'>,
  ) {}

  async send({ message, config: { settings, source }, receipt }: Outgoing<'slack'>): Promise<SendOutcome> {
    const rendered = slackMessage(message, settings.signingSecret !== undefined);
    if (settings.botToken !== undefined) return this.byBot(message, rendered, settings, receipt);
    const post = postOf({ body: JSON.stringify(rendered), trusted: source === 'environment' });
    return outcomeOfPost(await this.guard.fetch(settings.webhookUrl ?? '', post));
  }

  private async byBot(message: Message, rendered: JsonObject, settings: SlackSettings, receipt: string | undefined): Promise<SendOutcome> {
    if (receipt !== undefined) {
      const isQuestion = message.about === 'request' && QUESTIONS.has(message.event);
      const changed = await this.change(receipt, isQuestion ? slackAskedAgain(message) : rendered, settings);
      if (changed.kind === 'not done' && changed.outcome.kind === 'retry') return changed.outcome;
      if (changed.kind === 'done' && !isQuestion) return { kind: 'delivered', receipt };
    }
    const posted = await this.call('chat.postMessage', { ...rendered, channel: settings.channel ?? '' }, settings);
    if (posted.kind === 'done') return { kind: 'delivered', receipt: posted.receipt };
    return posted.kind === 'not done' ? posted.outcome : { kind: 'retry', code: 'SLACK_ERROR' };
  }

  private change(receipt: string, rendered: JsonObject, settings: SlackSettings): Promise<SlackAnswer> {
    const [channel = '', ts = ''] = receipt.split(':');
    return this.call('chat.update', { ...rendered, channel, ts }, settings);
  }

  /** The address is the operator's, whoever gave the token. */
  private async call(method: string, body: JsonObject, { botToken }: SlackSettings): Promise<SlackAnswer> {
    const headers = { authorization: `Bearer ${botToken ?? ''}` };
    const post = postOf({ body: JSON.stringify(body), headers, trusted: true, timeoutMs: CALL_MS });
    return readSlackAnswer(await this.guard.fetch(`${this.config.slackApiUrl}/${method}`, post));
  }
}
