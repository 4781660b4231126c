import { Injectable } from '@nestjs/common';
import type { SlackPress } from '../../../domain/notifications/slack-call.js';
import { actAs, recordsNothing } from '../../../platform/auth/access/call-context.js';
import { assertAllowed } from '../../../platform/auth/access/assert-allowed.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { SealedBox } from '../../../platform/secrets/sealed-box.js';
import { HitlService } from '../../hitl/hitl.service.js';
import { ChatAccountSource } from './chat-account.source.js';
import { ChatLinks } from './chat-links.js';
import { SlackAnswers } from './slack-answers.js';

type Decision = Extract<SlackPress, { kind: 'decision' }>;

const DONE = { approve: 'Your approval counts.', reject: 'You rejected it.' } as const;

/** Decides as the person to whom the chat account is linked that pressed a button, and says to them alone what came of it. */
@Injectable()
export class ChatDecisions {
  constructor(
    private readonly accounts: ChatAccountSource,
    private readonly links: ChatLinks,
    private readonly hitl: HitlService,
    private readonly answers: SlackAnswers,
    private readonly box: SealedBox,
  ) {}

  /** @param secret that signed the call
   * @throws Problem for whoever may not decide this, with the reason; those decisions that come too late are told in the chat */
  async decide(organizationId: string, press: Decision, secret: string): Promise<void> {
    const vouchedBy = this.box.mac('chat-links', secret);
    const caller = await this.accounts.find(organizationId, { ...press, vouchedBy });
    if (caller === undefined) return this.offerLink(organizationId, press, vouchedBy);
    actAs(caller, 'chat');
    try {
      await this.act(press, caller);
    } catch (error) {
      if (!(error instanceof Problem)) {
        this.answers.say(press.responseUrl, 'That did not work. Look at the request on its page before you try again.');
        throw error;
      }
      this.answers.say(press.responseUrl, `Nothing is decided: ${error.message}`);
      if (error.status !== 409 && error.code !== 'STOPPED') throw error;
      return recordsNothing();
    }
    this.answers.say(press.responseUrl, DONE[press.word]);
  }

  private async act({ word, requestId, digest }: Decision, caller: Caller): Promise<void> {
    assertAllowed('hitl.decide', caller);
    const decision = { expectedDigest: digest };
    // What comes of it is told by a delivery: nobody waits for it here.
    if (word === 'approve') await this.hitl.approve(requestId, decision, { wait: 0 }, caller);
    else await this.hitl.reject(requestId, decision, {}, caller);
  }

  private offerLink(
    organizationId: string, { responseUrl, workspace, chatUser, workspaceName, userName }: Decision, vouchedBy: string,
  ): void {
    recordsNothing();
    const url = this.links.make({ organizationId, workspace, chatUser, vouchedBy, workspaceName, userName });
    const text = 'Nothing is decided: nobody here knows yet who you are. Link this Slack account to yours, then press the button again.';
    this.answers.say(responseUrl, text, { label: 'Link my account', url });
  }
}
