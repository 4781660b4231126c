import { Inject, Injectable } from '@nestjs/common';
import { OPEN_LINK } from '../../../domain/notifications/slack-call.js';
import type { JsonObject } from '../../../domain/json.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { OutboundGuard } from '../../../platform/outbound/outbound-guard.js';

/** Where Slack takes answers to interactions. */
const SLACK_HOOKS = 'https://hooks.slack.com';
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1_024;

/**
 * Answers the press of a button, for whoever pressed it alone. An address that is not Slack's is never called, whoever signed it: who
 * has a signing secret must not choose where this service calls.
 */
@Injectable()
export class SlackAnswers {
  private readonly own: string;

  constructor(
    private readonly guard: OutboundGuard,
    @Inject(CONFIG) { slackApiUrl }: Pick<CompleteConfig, 'slackApiUrl'>,
  ) {
    this.own = new URL(slackApiUrl).origin;
  }

  /** Nobody waits for it: what was decided stands in the message, or on the page. */
  say(responseUrl: string | undefined, text: string, link?: { readonly label: string; readonly url: string }): void {
    const origin = responseUrl !== undefined && URL.canParse(responseUrl) ? new URL(responseUrl).origin : undefined;
    if (origin !== SLACK_HOOKS && origin !== this.own) return;
    const section: JsonObject = { type: 'section', text: { type: 'plain_text', text, emoji: false } };
    const button = (label: string): JsonObject =>
      ({ type: 'button', action_id: OPEN_LINK, text: { type: 'plain_text', text: label, emoji: false }, url: link!.url });
    const body: JsonObject = {
      response_type: 'ephemeral', replace_original: false, text, mrkdwn: false,
      blocks: [section, ...(link === undefined ? [] : [{ type: 'actions', elements: [button(link.label)] }])],
    };
    void this.guard.fetch(responseUrl!, {
      method: 'POST', headers: { 'content-type': 'application/json; charset=utf-8' }, body: JSON.stringify(body), timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES, trusted: origin === this.own,
    });
  }
}
