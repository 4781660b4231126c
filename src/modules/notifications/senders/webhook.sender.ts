import { Injectable } from '@nestjs/common';
import { Webhook } from 'standardwebhooks';
import { webhookPayload } from '../../../domain/notifications/webhook-payload.js';
import { OutboundGuard } from '../../../platform/outbound/outbound-guard.js';
import type { WebhookSettings } from '../channels/channel-config.js';
import { outcomeOfPost, postOf } from './post-outcome.js';
import type { ChannelSender, Outgoing, SendOutcome } from './sender.js';

/** Posts each event to an address, signed by Standard Webhooks. The message's id is the delivery's, the same at each attempt. */
@Injectable()
export class WebhookSender implements ChannelSender<'webhook'> {
  readonly channel = 'webhook';

  constructor(private readonly guard: OutboundGuard) {}

  async send({ message, config: { settings, source } }: Outgoing<'webhook'>): Promise<SendOutcome> {
    const body = JSON.stringify(webhookPayload(message));
    const now = new Date();
    const headers = {
      'webhook-id': message.deliveryId,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': secretsOf(settings, now).map((secret) => signerOf(secret).sign(message.deliveryId, now, body)).join(' '),
      ...(message.traceparent === undefined ? {} : { traceparent: message.traceparent }),
    };
    return outcomeOfPost(await this.guard.fetch(settings.url, postOf({ body, headers, trusted: source === 'environment' })));
  }
}

function secretsOf({ secret, formerSecret, formerUntil }: WebhookSettings, now: Date): string[] {
  const isFormerGood = formerSecret !== undefined && formerUntil !== undefined && now < new Date(formerUntil);
  return isFormerGood ? [secret, formerSecret] : [secret];
}

function signerOf(secret: string): Webhook {
  return secret.startsWith('whsec_') ? new Webhook(secret) : new Webhook(Buffer.from(secret, 'utf8'), { format: 'raw' });
}
