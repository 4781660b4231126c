import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { isSignedBySlack, readSlackPress, SLACK_CALL_SECONDS, type SlackPress } from '../../../domain/notifications/slack-call.js';
import { recordsNothing } from '../../../platform/auth/access/call-context.js';
import { scopeOfEverything } from '../../../platform/auth/access/scope.js';
import { AuthJournal } from '../../../platform/auth/failures/auth-journal.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { invalid } from '../../../platform/http/fields/read-members.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { reply, type Reply } from '../../../platform/http/reply/replies.js';
import { bodyBytes } from '../../../platform/http/request/body-reader.js';
import { formFields } from '../../../platform/http/request/form-fields.js';
import { parseStrictJson } from '../../../platform/http/request/strict-json.js';
import { HitlRequestStore } from '../../hitl/requests/hitl-request.store.js';
import { SpentOnceStore } from '../../sign-in/ports/spent-once.store.js';
import { Channels } from '../channels/channels.js';
import { ChatDecisions } from './chat-decisions.service.js';

/** Slack shows an error to whoever pressed a button that is not answered within three seconds. */
const ANSWERED_WITHIN_MS = 2_500;
const NOT_SLACK = 'This is not signed by the Slack app of an organization here, or was signed more than five minutes ago.';

/** Calls of Slack's: what is pressed names a request, whose organization's secret has to have signed the call. */
@Injectable()
export class SlackCallbacks {
  constructor(
    private readonly requests: HitlRequestStore,
    private readonly channels: Channels,
    private readonly spent: SpentOnceStore,
    private readonly work: UnitOfWork,
    private readonly journal: AuthJournal,
    private readonly decisions: ChatDecisions,
  ) {}

  /** @throws Problem VALIDATION_FAILED, UNAUTHENTICATED, CONFLICT for a call that came before, and what the decision throws */
  async take(request: Request): Promise<Reply<undefined>> {
    const press = pressOf(formFields(request)['payload']);
    if (press.kind === 'link') {
      recordsNothing();
      return DONE;
    }
    const signature = String(request.headers['x-slack-signature'] ?? '');
    const timestamp = String(request.headers['x-slack-request-timestamp'] ?? '');
    const { organizationId, secret } = await this.secretFor(press.requestId);
    if (secret === undefined || !isSignedBySlack(secret, { signature, timestamp }, bodyBytes(request), Date.now())) {
      await this.journal.failed(request, 'unknown credential');
      throw new Problem('UNAUTHENTICATED', NOT_SLACK);
    }
    await this.assertFirst(signature, Number(timestamp));
    const deciding = this.decisions.decide(organizationId, press, secret);
    // What takes longer goes on, and is told in the chat.
    deciding.catch(() => undefined);
    await Promise.race([deciding, pause(ANSWERED_WITHIN_MS, undefined, { ref: false }).then(recordsNothing)]);
    return DONE;
  }

  /** Of the organization whose request it is; undefined where there is no such request, or its channel has no secret. */
  private async secretFor(requestId: string): Promise<{ readonly organizationId: string; readonly secret: string | undefined }> {
    const ref = await this.requests.findRef(scopeOfEverything(), requestId).catch((error: unknown) => {
      if (error instanceof Problem && error.code === 'NOT_FOUND') return undefined;
      throw error;
    });
    if (ref === undefined) return { organizationId: '', secret: undefined };
    const { organizationId } = ref;
    const channel = (await this.channels.of([organizationId])).get(organizationId)?.external.find((one) => one.channel === 'slack');
    const settings = channel?.settings as { readonly signingSecret?: string } | undefined;
    return { organizationId, secret: settings?.signingSecret };
  }

  private async assertFirst(signature: string, signedAt: number): Promise<void> {
    const until = new Date((signedAt + 2 * SLACK_CALL_SECONDS) * 1_000);
    const isFirst = await this.work.run({ chains: [], leavesFacts: true }, (tx) => this.spent.spend(tx, 'chat-call', signature, until));
    if (!isFirst) throw new Problem('CONFLICT', 'This call came before. Each signature is good once.');
  }
}

const DONE = reply(200, undefined);

/** @throws Problem VALIDATION_FAILED */
function pressOf(payload: string | undefined): SlackPress {
  const parsed = payload === undefined ? undefined : parseStrictJson(Buffer.from(payload, 'utf8'));
  const press = parsed?.ok ? readSlackPress(parsed.value) : undefined;
  if (press === undefined) throw invalid([{ pointer: '/payload', message: 'must be what Slack sends for a button of a message of ours' }]);
  return press;
}
