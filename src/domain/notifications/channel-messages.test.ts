import { describe, expect, test } from '@jest/globals';
import { cardFindings, markdownIn, runsIn } from '../../../test/support/notifications/adaptive-cards.js';
import { blockKitFindings, liveIn, markupIn } from '../../../test/support/notifications/block-kit.js';
import { partOf } from '../../../test/support/running/whole-form.js';
import {
  aboutExecution, aboutRequest, EACH_EVENT, HIDDEN, messagesSaying, MISLEADING,
} from '../../../test/support/notifications/messages.js';
import type { JsonObject } from '../json.js';
import { emailMessage } from './email-message.js';
import type { Message } from './message.js';
import { shownInput } from './plain-text.js';
import { slackAskedAgain, slackMessage } from './slack-message.js';
import { teamsCard } from './teams-card.js';
import { webhookPayload } from './webhook-payload.js';

const LINKS = { approve: 'https://app.example.org/hitl/hitl_1/approve', reject: 'https://app.example.org/hitl/hitl_1/reject' };
const contentOf = (card: JsonObject) => (card['attachments'] as JsonObject[])[0]!['content'] as JsonObject;
const buttonsOf = (message: JsonObject) =>
  (message['blocks'] as JsonObject[]).flatMap((block) => (block['type'] === 'actions' ? (block['elements'] as JsonObject[]) : []));
const textsOf = (mail: { text: string; html: string }) =>
  [mail.text, mail.html.replace(/<style>[^]*?<\/style>/, '').replace(/<[^>]+>/g, '')];

describe('each event in each channel', () => {
  test.each(EACH_EVENT.map((message) => [message.event, message] as const))('%s', (_, message) => {
    expect(blockKitFindings(slackMessage(message, true))).toEqual([]);
    expect(blockKitFindings(slackMessage(message, false))).toEqual([]);
    expect(cardFindings(contentOf(teamsCard(message)))).toEqual([]);
    const mail = emailMessage(message, LINKS);
    for (const text of [...textsOf(mail), JSON.stringify(slackMessage(message, true)), JSON.stringify(teamsCard(message))]) {
      expect(text).toMatch(/email\.send/);
      expect(text).toMatch(/mailer/);
      expect(text).toMatch(/a@example\.org/);
      expect(/high priority/i.test(text)).toBe(message.priority === 'high');
      if (message.about === 'request' && message.request.note !== null) expect(text).toMatch(/as agreed/);
    }
    expect(mail.headers['Importance']).toBe(message.priority === 'high' ? 'high' : undefined);
    expect(/\[High priority\]/.test(mail.subject)).toBe(message.priority === 'high');
    expect(webhookPayload(message)).toMatchObject({ event: message.event, capability: 'email.send', agent_name: 'mailer' });
    expect(webhookPayload(message)['priority']).toBe(message.priority === 'high' ? 'high' : undefined);
  });
});

describe('a webhook', () => {
  test('is told of a created request by the members of the interface, and no others', () => {
    expect(webhookPayload(aboutRequest('hitl.request.created'))).toEqual({
      event: 'hitl.request.created', hitl_request_id: 'hitl_1', agent_id: 'agt_1', agent_name: 'mailer', capability: 'email.send',
      hitl_mode: 'propose', input_summary: 'to: "a@example.org", subject: "Offer", body: "Dear Ada"', approve_url: LINKS.approve,
      reject_url: LINKS.reject, expires_at: '2026-11-26T09:30:00.000Z',
    });
  });

  test('is told of other events when they were, and what came of it', () => {
    expect(webhookPayload(EACH_EVENT.find(({ event }) => event === 'hitl.request.rejected')!)).toMatchObject({
      hitl_request_id: 'hitl_1', occurred_at: '2026-11-26T09:00:00.000Z', status: 'rejected', decided_by: 'Grace Hopper',
      decision_by: 'human', decided_at: '2026-11-26T09:00:00.000Z', comment: 'as agreed',
    });
    expect(webhookPayload(aboutExecution('execution.indeterminate', { status: 'indeterminate', closedAt: null }))).toMatchObject({
      execution_id: 'exec_1', status: 'indeterminate', error: null, closed_at: null, occurred_at: '2026-11-26T09:00:00.000Z',
    });
  });
});

describe('buttons', () => {
  const value = JSON.stringify({ request: 'hitl_1', digest: 'd'.repeat(64) });
  test('of Slack call back where that can be verified, and carry request and digest', () => {
    expect(buttonsOf(slackMessage(aboutRequest('hitl.request.created'), true)))
      .toMatchObject([{ action_id: 'approve', value }, { action_id: 'reject', value }]);
  });

  test('are links where it cannot', () => {
    const buttons = buttonsOf(slackMessage(aboutRequest('hitl.request.created'), false));
    expect(buttons).toMatchObject([{ url: LINKS.approve }, { url: LINKS.reject }]);
    expect(JSON.stringify(buttons)).not.toMatch(/value/);
  });

  test('approve nothing that is not shown whole', () => {
    const whole = aboutRequest('hitl.request.created', { input: { body: 'x'.repeat(8_000) } });
    expect(buttonsOf(slackMessage(whole, true))).toMatchObject([{ action_id: 'approve', value }, { value }]);
    const long = aboutRequest('hitl.request.created', { input: { body: 'x'.repeat(9_000) } });
    const buttons = buttonsOf(slackMessage(long, true));
    expect(buttons).toMatchObject([{ action_id: 'open_approve', url: LINKS.approve }, { action_id: 'reject', value }]);
    expect(buttons[0]).not.toHaveProperty('value');
    expect(JSON.stringify(slackMessage(long, true))).toMatch(/This is not all of it/);
  });

  test('go with the question', () => {
    for (const message of EACH_EVENT.filter(({ event }) => /approved|rejected|timed_out|cancelled|execution/.test(event))) {
      expect(buttonsOf(slackMessage(message, true))).toEqual([]);
      expect(contentOf(teamsCard(message))['actions']).toEqual([]);
      expect(emailMessage(message).html).not.toMatch(/href/);
    }
    const again = slackAskedAgain(aboutRequest('hitl.request.reminder'));
    expect(buttonsOf(again)).toEqual([]);
    expect(blockKitFindings(again)).toEqual([]);
  });

  test('of Teams only open links', () => {
    expect(contentOf(teamsCard(aboutRequest('hitl.request.created')))['actions']).toEqual([
      { type: 'Action.OpenUrl', title: 'Look, and approve', url: LINKS.approve },
      { type: 'Action.OpenUrl', title: 'Look, and reject', url: LINKS.reject },
    ]);
  });
});

test('Slack shows the whole input that its button approves', () => {
  const input = { body: `a \`\`\` b & <c> ${'é'.repeat(5_000)}`, list: Array.from({ length: 50 }, (_, n) => n) };
  const texts = markupIn(slackMessage(aboutRequest('hitl.request.created', { input }), true));
  const code = texts.filter((text) => text.startsWith('```')).map((text) => text.slice(4, -4)).join('');
  const read = code.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
  expect(JSON.parse(read)).toEqual(input);
});

test('a card of Teams stays small, and says when it does not show all', () => {
  for (const body of ['x'.repeat(200_000), '😀'.repeat(50_000), '\u202e'.repeat(50_000), '\n'.repeat(50_000)]) {
    const card = teamsCard(aboutRequest('hitl.request.created', { input: { body, many: Array.from({ length: 3_000 }, (_, n) => n) } }));
    expect(Buffer.byteLength(JSON.stringify(card))).toBeLessThan(24_000);
    expect(JSON.stringify(card)).toMatch(/This is not all of it/);
  }
});

test('mails about a request have one thread and one subject', () => {
  const mails = EACH_EVENT.filter(({ about, priority }) => about === 'request' && priority === 'normal').map((one) => emailMessage(one));
  expect([...new Set(mails.map(({ thread }) => thread))]).toEqual(['hitl_1']);
  expect([...new Set(mails.map(({ subject }) => subject.replace(/^Re: /, '')))]).toEqual(['Approval of email.send for mailer']);
  expect(mails.every(({ headers }) => headers['Auto-Submitted'] === 'auto-generated')).toBe(true);
});

describe('content that misleads', () => {
  // Each text in some of the messages, each message with some of the texts.
  const said = MISLEADING.flatMap((text, n) =>
    partOf(messagesSaying(text), 2, n).map((message) => [text.slice(0, 40), message.event, message] as const));

  test.each(said)('%j is shown as it is (%s)', (_text, _event, message: Message) => {
    const mail = emailMessage(message, LINKS);
    const slack = slackMessage(message, true);
    const card = teamsCard(message);
    const payload = webhookPayload(message);

    for (const text of [mail.text, mail.html, mail.subject, ...textsIn(slack), ...textsIn(card), ...textsIn(payload)]) {
      expect(text).not.toMatch(HIDDEN);
    }
    expect(mail.subject).not.toMatch(/[\r\n]/);
    // Only our own elements, and no attribute of anybody else's.
    const tags = [...mail.html.matchAll(/<\/?([a-z0-9]+)/gi)].map(([, tag]) => tag!.toLowerCase());
    expect(tags.filter((tag) => !OURS.has(tag))).toEqual([]);
    const isQuestion = ['hitl.request.created', 'hitl.request.escalated'].includes(message.event);
    expect([...mail.html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)).toEqual(isQuestion ? [LINKS.approve, LINKS.reject] : []);
    expect(mail.html).not.toMatch(/ on[a-z]+="/);
    // A line of a plain mail that is not ours begins like JSON.
    expect(mail.text.split('\n').filter((line) => /^(Approve|Reject): /.test(line)).length).toBe(isQuestion ? 2 : 0);

    expect(blockKitFindings(slack)).toEqual([]);
    expect(markupIn(slack).flatMap(liveIn)).toEqual([]);
    expect(liveIn(slack['text'] as string)).toEqual([]);
    for (const markup of markupIn(slack)) {
      expect(markup.replace(/^```\n[^`]*\n```$/, '').replace(/`[^`\n]*`/g, '')).toMatch(/^[\w* :.•\n]*$/);
    }

    expect(cardFindings(contentOf(card))).toEqual([]);
    expect(markdownIn(card)).toEqual([]);
    expect(runsIn(card).join('')).not.toMatch(/[\r\n]/);
    expect(Buffer.byteLength(JSON.stringify(card))).toBeLessThan(24_000);
  });

  test('and what would run is shown exactly where it is shown whole', () => {
    const input = { '<b>': '\u202e"`*_&amp;\n\r' };
    expect(shownInput(input)).toContain(String.raw`"<b>": "⟦U+202E⟧\"${'`'}*_&amp;\n\r"`);
  });
});

const OURS = new Set([
  'html', 'head', 'meta', 'title', 'style', 'body', 'div', 'p', 'h1', 'span', 'br', 'pre', 'ul', 'li', 'a',
]);

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.entries(value).flatMap(([name, one]) => [name, ...textsIn(one)]) : [];
}
