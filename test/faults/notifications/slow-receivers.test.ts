import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { OutboundGuard } from '../../../src/platform/outbound/outbound-guard.js';
import { Smtp } from '../../../src/platform/mail/smtp.js';
import type { ChannelConfig } from '../../../src/modules/notifications/channels/channel-config.js';
import { plainLinks } from '../../support/notifications/plain-links.js';
import { EmailSender } from '../../../src/modules/notifications/senders/email.sender.js';
import type { SendOutcome } from '../../../src/modules/notifications/senders/sender.js';
import { WebhookSender } from '../../../src/modules/notifications/senders/webhook.sender.js';
import { type Answer, type Receiver, startReceiver } from '../../support/http/receiver.js';
import { listening } from '../../support/http/outbound-guards.js';
import { aboutRequest } from '../../support/notifications/messages.js';

const message = aboutRequest('hitl.request.created');
const HOW: Readonly<Record<string, Answer>> = {
  '/says nothing': { hang: 'before headers' },
  '/says the headers': { body: 'x'.repeat(10), hang: 'after headers' },
  '/drips': { body: 'x'.repeat(1_000), drip: { bytes: 1, everyMs: 100 } },
};

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  receiver.standing(({ path }) => HOW[decodeURI(path)] ?? {});
});
afterAll(() => receiver.close());

/** What came of it, and after how many seconds. */
async function timed(sending: Promise<SendOutcome>): Promise<[SendOutcome, number]> {
  const began = performance.now();
  const outcome = await sending;
  return [outcome, Math.round((performance.now() - began) / 1000)];
}

test('a receiver that hangs or drips, or a mail server that says nothing, is left after ten seconds and tried again', async () => {
  const mute = createServer();
  const port = await listening(mute);
  const webhook = new WebhookSender(new OutboundGuard({ production: false, allow: [] }));
  const parts = { organizationId: 'org_1', enabled: true, source: 'api', events: null, recipients: [] } as const;
  const posted = Object.keys(HOW).map((path) => {
    const settings = { url: receiver.url + encodeURI(path), secret: 'a secret of thirty-two characters or more' };
    return timed(webhook.send({ message, config: { ...parts, channel: 'webhook', settings } }));
  });
  const smtp = { smtpHost: '127.0.0.1', smtpPort: port, smtpUser: undefined, smtpPass: undefined, smtpFrom: 'cs@example.org' };
  const email = new EmailSender(new Smtp({ ...smtp, production: false }), plainLinks('http://a'), smtp);
  const config: ChannelConfig<'email'> = { ...parts, channel: 'email', settings: {} };
  const mailed = timed(email.send({ message, config, addressee: { userId: 'usr_1', address: 'ada@example.org', name: null } }));

  for (const [outcome, seconds] of await Promise.all([...posted, mailed])) {
    expect(outcome.kind).toBe('retry');
    expect(seconds).toBeLessThanOrEqual(20);
  }
  expect((await Promise.all(posted)).map(([outcome]) => outcome)).toEqual(Array(3).fill({ kind: 'retry', code: 'TIMEOUT' }));
  mute.close();
});
