import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { simpleParser } from 'mailparser';
import { Webhook } from 'standardwebhooks';
import { canaryPort, listening, startOutbound, touch, touched } from '../../../../test/support/http/outbound-guards.js';
import { type Answer, type Receiver, startReceiver } from '../../../../test/support/http/receiver.js';
import { startSmtp, type TestSmtp } from '../../../../test/support/http/smtp-server.js';
import { unsafeAddresses } from '../../../../test/support/http/unsafe-addresses.js';
import { cardFindings } from '../../../../test/support/notifications/adaptive-cards.js';
import { aboutRequest, EACH_EVENT, messagesSaying, MISLEADING } from '../../../../test/support/notifications/messages.js';
import { type SlackWorkspace, startSlack } from '../../../../test/support/notifications/slack.js';
import type { ExternalChannel } from '../../../domain/notifications/events.js';
import type { Message } from '../../../domain/notifications/message.js';
import { OutboundGuard, type Resolve } from '../../../platform/outbound/outbound-guard.js';
import { Smtp } from '../../../platform/mail/smtp.js';
import type { ChannelConfig, SettingsOf } from '../channels/channel-config.js';
import { plainLinks } from '../../../../test/support/notifications/plain-links.js';
import { EmailSender } from './email.sender.js';
import { SlackSender } from './slack.sender.js';
import { TeamsSender } from './teams.sender.js';
import { WebhookSender } from './webhook.sender.js';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const NEXT_SECRET = 'a secret of thirty-two characters or more';
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const created = aboutRequest('hitl.request.created', {}, { deliveryId: 'dlv_7', traceparent: TRACE });
const rejected = EACH_EVENT.find(({ event }) => event === 'hitl.request.rejected')!;
const guard = new OutboundGuard({ production: false, allow: [] });

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());
afterEach(() => receiver.standing({ body: { ok: true } }));

function configOf<Of extends ExternalChannel>(
  channel: Of, settings: SettingsOf[Of], source: ChannelConfig['source'] = 'api',
): ChannelConfig<Of> {
  return { organizationId: 'org_1', channel, enabled: true, source, settings, events: null, recipients: [] };
}

describe('a webhook', () => {
  const sender = new WebhookSender(guard);
  const post = (settings: Partial<SettingsOf['webhook']> = {}, message: Message = created) =>
    sender.send({ message, config: configOf('webhook', { url: `${receiver.url}/hook`, secret: SECRET, ...settings }) });

  test('is signed, by the same id each time, and carries the trace', async () => {
    const before = receiver.requests.length;
    expect([await post(), await post()]).toEqual([{ kind: 'delivered' }, { kind: 'delivered' }]);
    const [first, again] = receiver.requests.slice(before);
    const headers = first!.headers as Record<string, string>;
    expect(new Webhook(SECRET).verify(first!.body, headers)).toMatchObject({ event: 'hitl.request.created', hitl_request_id: 'hitl_1' });
    expect([headers['webhook-id'], headers['traceparent'], again!.headers['webhook-id'], again!.body])
      .toEqual(['dlv_7', TRACE, 'dlv_7', first!.body]);
    expect(() => new Webhook(SECRET).verify(`${first!.body} `, headers)).toThrow();
  });

  test('is signed by both secrets for a day after a change, and then by the new one', async () => {
    const raw = new Webhook(Buffer.from(NEXT_SECRET), { format: 'raw' });
    const former = { secret: NEXT_SECRET, formerSecret: SECRET };
    await post({ ...former, formerUntil: new Date(Date.now() + 60_000).toISOString() });
    const { body, headers } = receiver.requests.at(-1)!;
    raw.verify(body, headers as Record<string, string>);
    new Webhook(SECRET).verify(body, headers as Record<string, string>);
    await post({ ...former, formerUntil: new Date(Date.now() - 1).toISOString() });
    const later = receiver.requests.at(-1)!;
    raw.verify(later.body, later.headers as Record<string, string>);
    expect(() => new Webhook(SECRET).verify(later.body, later.headers as Record<string, string>)).toThrow();
  });

  const answers: [string, Answer, object][] = [
    ['202', { status: 202, body: '' }, { kind: 'delivered' }],
    ['204', { status: 204 }, { kind: 'delivered' }],
    ['410', { status: 410 }, { kind: 'gone', code: 'HTTP_410' }],
    ['400', { status: 400, body: 'secret words of the receiver' }, { kind: 'retry', code: 'HTTP_400' }],
    ['404', { status: 404 }, { kind: 'retry', code: 'HTTP_404' }],
    ['429 with a pause', { status: 429, headers: { 'retry-after': '7' } }, { kind: 'retry', code: 'HTTP_429', afterMs: 7_000 }],
    ['503 with a long pause', { status: 503, headers: { 'retry-after': '999999' } },
      { kind: 'retry', code: 'HTTP_503', afterMs: 3_600_000 }],
    ['503 with nonsense', { status: 503, headers: { 'retry-after': 'soon' } }, { kind: 'retry', code: 'HTTP_503' }],
    ['a date that has passed', { status: 503, headers: { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' } },
      { kind: 'retry', code: 'HTTP_503', afterMs: 0 }],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, { kind: 'retry', code: 'HTTP_302' }],
    ['10 MB', { body: 'x'.repeat(10_000_000) }, { kind: 'retry', code: 'TOO_LARGE' }],
    ['a reset', { reset: true }, { kind: 'retry', code: 'CONNECTION_LOST' }],
  ];
  test.each(answers)('that answers %s', async (_, answer, outcome) => {
    receiver.standing(answer);
    expect(await post()).toEqual(outcome);
  });

  test('that is away', async () => {
    expect(await post({ url: 'http://127.0.0.1:1/' })).toEqual({ kind: 'retry', code: 'CONNECT' });
  });
});

describe('in production no channel reaches what is private', () => {
  startOutbound();
  const mixed: Resolve = async () => [{ address: '8.8.8.8', family: 4 }, { address: '127.0.0.1', family: 4 }];
  const to: Resolve = async () => [{ address: '127.0.0.1', family: 4 }];

  test('by some 200 addresses, each its own channel', async () => {
    const strict = new OutboundGuard({ production: true, allow: [] }, to);
    const [webhook, slack, teams] = [new WebhookSender(strict), new SlackSender(strict, { slackApiUrl: '' }), new TeamsSender(strict)];
    const outcomes = await Promise.all(unsafeAddresses(canaryPort).flatMap((url) => [
      webhook.send({ message: created, config: configOf('webhook', { url, secret: SECRET }) }),
      slack.send({ message: created, config: configOf('slack', { webhookUrl: url }) }),
      teams.send({ message: created, config: configOf('teams', { webhookUrl: url }) }),
    ]));
    expect(outcomes.length).toBeGreaterThan(450);
    expect(outcomes.filter(({ kind }) => kind !== 'dead')).toEqual([]);
    expect(touched).toBe(0);
  });

  test('by a name that leads there among others', async () => {
    const sender = new WebhookSender(new OutboundGuard({ production: true, allow: [] }, mixed));
    const config = configOf('webhook', { url: `https://rebind.test:${canaryPort}/`, secret: SECRET });
    expect(await sender.send({ message: created, config })).toEqual({ kind: 'dead', code: 'UNSAFE_URL' });
    expect(touched).toBe(0);
  });

  test('by a name that leads elsewhere the second time it is asked', async () => {
    // 127.0.0.2 stands for a public address, by the allow list; the second answer is the canary.
    const [good, bad] = [createServer((socket) => void socket.destroy()), createServer((socket) => {
      touch();
      socket.destroy();
    })];
    const at = await listening(good, '127.0.0.2');
    await listening(bad, '127.0.0.1', at);
    let asked = 0;
    const flipping: Resolve = async () => [{ address: asked++ === 0 ? '127.0.0.2' : '127.0.0.1', family: 4 }];
    const sender = new WebhookSender(new OutboundGuard({ production: true, allow: ['127.0.0.2'] }, flipping));
    const config = configOf('webhook', { url: `https://flip.test:${at}/`, secret: SECRET });
    expect((await sender.send({ message: created, config })).kind).toBe('retry');
    expect(await sender.send({ message: created, config })).toEqual({ kind: 'dead', code: 'UNSAFE_URL' });
    expect([asked, touched]).toEqual([2, 0]);
    good.close();
    bad.close();
  });

  test("though the operator's own addresses are taken as they stand", async () => {
    const sender = new WebhookSender(new OutboundGuard({ production: true, allow: [] }, to));
    const config = configOf('webhook', { url: `${receiver.url}/hook`, secret: SECRET }, 'environment');
    expect(await sender.send({ message: created, config })).toEqual({ kind: 'delivered' });
  });
});

describe('Teams', () => {
  test('takes cards without a finding, four a second', async () => {
    const sender = new TeamsSender(guard);
    receiver.standing({ status: 202 });
    const before = receiver.requests.length;
    const config = configOf('teams', { webhookUrl: `${receiver.url}/teams` });
    const began = performance.now();
    const outcomes = await Promise.all(EACH_EVENT.slice(0, 6).map((message) => sender.send({ message, config })));
    expect(performance.now() - began).toBeGreaterThanOrEqual(1_200);
    expect(outcomes.every(({ kind }) => kind === 'delivered')).toBe(true);
    for (const { body } of receiver.requests.slice(before)) {
      const { type, attachments } = JSON.parse(body) as { type: string; attachments: { contentType: string; content: never }[] };
      expect([type, attachments.length, attachments[0]!.contentType]).toEqual(['message', 1, 'application/vnd.microsoft.card.adaptive']);
      expect(cardFindings(attachments[0]!.content)).toEqual([]);
    }
  });
});

describe('Slack', () => {
  let slack: SlackWorkspace;
  let sender: SlackSender;
  beforeEach(async () => {
    slack = await startSlack();
    sender = new SlackSender(guard, { slackApiUrl: slack.apiUrl });
  });
  afterEach(() => slack.close());
  const bot = (parts: Partial<SettingsOf['slack']> = {}) => configOf('slack', {
    botToken: slack.botToken, channel: slack.channel, signingSecret: slack.signingSecret, ...parts,
  });

  test('gets each event by its webhook', async () => {
    for (const message of EACH_EVENT) {
      expect(await sender.send({ message, config: configOf('slack', { webhookUrl: slack.webhookUrl }) })).toEqual({ kind: 'delivered' });
    }
    expect([slack.messages.length, slack.findings]).toEqual([EACH_EVENT.length, []]);
  });

  test('changes what a bot has posted once it is decided', async () => {
    const asked = await sender.send({ message: created, config: bot() });
    expect(asked).toEqual({ kind: 'delivered', receipt: `${slack.channel}:${slack.messages[0]!.ts}` });
    expect(JSON.stringify(slack.messages)).toMatch(/"action_id":"approve"/);
    const { receipt } = asked as { receipt: string };
    expect(await sender.send({ message: rejected, config: bot(), receipt })).toEqual(asked);
    expect(slack.messages).toMatchObject([{ updates: 1, blocks: [{ text: { text: 'Rejected: email.send' } }, {}, {}, {}, {}] }]);
    expect(JSON.stringify(slack.messages)).not.toMatch(/action_id/);
  });

  test('asks again below, and takes the buttons from above', async () => {
    const { receipt } = (await sender.send({ message: created, config: bot() })) as { receipt: string };
    const again = await sender.send({ message: aboutRequest('hitl.request.reminder'), config: bot(), receipt });
    expect(again).toEqual({ kind: 'delivered', receipt: `${slack.channel}:${slack.messages[1]!.ts}` });
    expect(JSON.stringify(slack.messages[0])).not.toMatch(/action_id/);
    expect(JSON.stringify(slack.messages[1])).toMatch(/action_id/);
  });

  test('gets the outcome anew where the message is gone', async () => {
    const outcome = await sender.send({ message: rejected, config: bot(), receipt: `${slack.channel}:1.2` });
    expect(outcome).toEqual({ kind: 'delivered', receipt: `${slack.channel}:${slack.messages[0]!.ts}` });
  });

  test('says by codes what no repetition mends, and never its words', async () => {
    const sent = (parts: Partial<SettingsOf['slack']>) => sender.send({ message: created, config: bot(parts) });
    expect(await sent({ botToken: 'xoxb-wrong' })).toEqual({ kind: 'dead', code: 'invalid_auth' });
    expect(await sent({ channel: 'C0' })).toEqual({ kind: 'dead', code: 'channel_not_found' });
    slack.script({ body: { ok: false, error: 'somebody@example.org said no' } });
    expect(await sender.send({ message: created, config: bot() })).toEqual({ kind: 'retry', code: 'SLACK_ERROR' });
    slack.script({ body: '<html>maintenance</html>' });
    expect(await sender.send({ message: created, config: bot() })).toEqual({ kind: 'retry', code: 'NOT_SLACK' });
  });

  test('is left alone for as long as it asks', async () => {
    slack.script({ status: 429, headers: { 'retry-after': '30' }, body: { ok: false, error: 'ratelimited' } });
    expect(await sender.send({ message: created, config: bot() })).toEqual({ kind: 'retry', code: 'HTTP_429', afterMs: 30_000 });
    slack.script({ headers: { 'retry-after': '5' }, body: { ok: false, error: 'ratelimited' } });
    expect(await sender.send({ message: created, config: bot() })).toEqual({ kind: 'retry', code: 'ratelimited', afterMs: 5_000 });
    expect(slack.messages).toEqual([]);
  });
});

describe('mail', () => {
  let smtp: TestSmtp;
  let sender: EmailSender;
  const addressee = { userId: 'usr_1', address: 'ada@example.org', name: 'Ada' };
  const config = configOf('email', {});
  const senderAt = (port: number) => {
    const from = 'Countersign <cs@example.org>';
    const settings = { smtpHost: '127.0.0.1', smtpPort: port, smtpUser: undefined, smtpPass: undefined, smtpFrom: from };
    const links = plainLinks('https://app.example.org');
    return new EmailSender(new Smtp({ ...settings, production: false }), links, settings);
  };
  beforeAll(async () => {
    smtp = await startSmtp({ knowsNot: 'nobody@example.org' });
    sender = senderAt(smtp.port);
  });
  afterAll(() => smtp.close());

  test('of each event is HTML and text, of a machine, in one thread for each request', async () => {
    const roots = new Set<string>();
    for (const [at, message] of EACH_EVENT.entries()) {
      expect(await sender.send({ message: { ...message, deliveryId: `dlv_${at}` }, config, addressee })).toEqual({ kind: 'delivered' });
      const mail = await simpleParser(smtp.mails.at(-1)!.source);
      expect(mail.messageId).toBe(`<dlv_${at}@example.org>`);
      expect(mail.headers.get('auto-submitted')).toBe('auto-generated');
      // What mailparser makes of Importance and X-Priority.
      expect(mail.headers.get('priority')).toBe(message.priority === 'high' ? 'high' : undefined);
      expect(mail.text).toMatch(/email\.send/);
      expect(mail.html).toMatch(/<h1/);
      expect(mail.references).toBe(mail.inReplyTo);
      if (message.about === 'request') roots.add(mail.inReplyTo!);
    }
    expect([...roots]).toEqual(['<hitl_1@example.org>']);
  });

  test('of misleading content has one subject, one body and one recipient', async () => {
    const sent = MISLEADING.map((text, at) => ({ ...messagesSaying(text)[0]!, deliveryId: `dlv_misleading_${at}` }));
    await Promise.all(sent.map((message) => sender.send({ message, config, addressee })));
    for (const { deliveryId } of sent) {
      const { to, source } = smtp.mails.find((mail) => mail.header('Message-ID') === `<${deliveryId}@example.org>`)!;
      const mail = await simpleParser(source, { skipTextToHtml: true, skipHtmlToText: true, skipTextLinks: true });
      expect(to).toEqual(['ada@example.org']);
      expect([mail.cc, mail.bcc, mail.attachments]).toEqual([undefined, undefined, []]);
      expect(mail.subject).not.toMatch(/[\r\n\u202e\u200b]/);
      expect(mail.html).not.toMatch(/<script|<img/);
    }
  });

  test('is given up where the server does not know the address, and tried again where it is away', async () => {
    const unknown = { ...addressee, address: 'nobody@example.org' };
    expect(await sender.send({ message: created, config, addressee: unknown })).toEqual({ kind: 'dead', code: 'EENVELOPE 550' });
    expect(await senderAt(1).send({ message: created, config, addressee })).toMatchObject({ kind: 'retry' });
    expect(await sender.send({ message: created, config })).toEqual({ kind: 'dead', code: 'NO_ADDRESS' });
  });
});
