import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { QUESTIONS } from '../../../domain/notifications/events.js';
import type { Message } from '../../../domain/notifications/message.js';
import { pauseAfter } from '../../../domain/notifications/next-attempt.js';
import { isOpen } from '../../../domain/hitl/transition.js';
import { LOGGER } from '../../../platform/logging/token.js';
import type { Semaphore } from '../../../platform/wake/semaphore.js';
import { Channels } from '../channels/channels.js';
import type { ChannelConfig } from '../channels/channel-config.js';
import { DecisionLinksService } from '../decisions/decision-links.js';
import type { Outgoing, SendOutcome } from '../senders/sender.js';
import { Senders } from '../senders/senders.js';
import { type ClaimedDelivery, LEASE_SECONDS, type Settled, type Target } from './delivery.store.js';
import { type MessageFacts, MessagesQuery } from './messages.query.js';
import { AT_ONCE, type Receiver, Receivers } from './receivers.js';

/** An attempt takes 10 s at most: one that could outlive the claim is not begun. */
const LAST_BEGIN_MS = (LEASE_SECONDS - 15) * 1_000;

/** Delivers claimed deliveries of one target, two at a time, and says what became of each. */
@Injectable()
export class DeliverService {
  constructor(
    private readonly senders: Senders,
    private readonly channels: Channels,
    private readonly messages: MessagesQuery,
    private readonly links: DecisionLinksService,
    private readonly receivers: Receivers,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Once one has failed, those that were not begun are given back: their receiver is the same. */
  async deliver(target: Target, claimed: readonly ClaimedDelivery[], places: Semaphore): Promise<Settled[]> {
    const begunAt = performance.now();
    const [channels, facts] = await Promise.all([this.channels.of([target.organizationId]), this.messages.of(claimed)]);
    const config = channels.get(target.organizationId)?.external.find(({ channel }) => channel === target.channel);
    const receiver = this.receivers.of(target);
    const waiting = [...claimed];
    const settled: Settled[] = [];
    let failed = false;
    const lane = async (): Promise<void> => {
      for (let delivery = waiting.shift(); delivery !== undefined; delivery = waiting.shift()) {
        const isLate = performance.now() - begunAt > LAST_BEGIN_MS;
        const place = () => places.run(() => this.deliverOne(delivery!, receiver, config, facts));
        const one = failed || isLate ? GIVEN_BACK(delivery) : await receiver.places.run(place);
        failed ||= one.state === 'again';
        settled.push(one);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    return settled;
  }

  private async deliverOne(
    delivery: ClaimedDelivery, receiver: Receiver, config: ChannelConfig | undefined, facts: MessageFacts,
  ): Promise<Settled> {
    const outgoing = this.outgoing(delivery, config, facts);
    if ('state' in outgoing) return outgoing;
    if (!receiver.breaker.enter()) return GIVEN_BACK(delivery);
    const outcome = await this.send(outgoing);
    if (outcome.kind !== 'retry') receiver.breaker.succeeded();
    else {
      receiver.breaker.failed();
      receiver.pause(outcome.afterMs ?? 0);
    }
    return this.settled(delivery, outcome);
  }

  private outgoing(delivery: ClaimedDelivery, config: ChannelConfig | undefined, facts: MessageFacts): Outgoing | Settled {
    if (config === undefined) return { delivery, state: 'dead', code: 'CHANNEL_OFF' };
    const message = this.messageOf(delivery, facts);
    if (message === undefined) return { delivery, state: 'superseded', code: 'SUBJECT_GONE' };
    if (delivery.channel !== 'webhook' && isAnswered(message)) return { delivery, state: 'superseded', code: 'ANSWERED' };
    const receipt = delivery.hitlRequestId === null ? undefined : facts.receipts.get(delivery.hitlRequestId);
    const shown = { message, config, ...(receipt === undefined ? {} : { receipt }) };
    if (delivery.target === '') return shown;
    const addressee = facts.addressees.get(delivery.target);
    return addressee === undefined ? { delivery, state: 'superseded', code: 'NO_ADDRESS' } : { ...shown, addressee };
  }

  private messageOf({ id, event, priority, occurredAt, traceparent, ...about }: ClaimedDelivery, facts: MessageFacts): Message | undefined {
    const base = { deliveryId: id, event, priority, occurredAt, ...(traceparent === null ? {} : { traceparent }) };
    if (about.hitlRequestId !== null) {
      const request = facts.requests.get(about.hitlRequestId);
      return request && { ...base, about: 'request', request, links: this.links.of(request.id) };
    }
    const execution = facts.executions.get(about.executionId!);
    return execution && { ...base, about: 'execution', execution };
  }

  private async send(outgoing: Outgoing): Promise<SendOutcome> {
    const { channel, organizationId } = outgoing.config;
    try {
      return await this.senders.send(outgoing);
    } catch (error) {
      this.logger.error({ err: error, channel, organizationId }, 'a sender failed');
      return { kind: 'retry', code: 'SENDER_FAILED' };
    }
  }

  private async settled(delivery: ClaimedDelivery, outcome: SendOutcome): Promise<Settled> {
    switch (outcome.kind) {
      case 'delivered':
        return { delivery, state: 'delivered', ...(outcome.receipt === undefined ? {} : { receipt: outcome.receipt }) };
      case 'gone':
        await this.channels.switchOff(delivery.organizationId, delivery.channel, outcome.code);
        return this.given(delivery, outcome.code);
      case 'dead':
        return this.given(delivery, outcome.code);
      case 'retry': {
        const { attempts, createdAt } = delivery;
        const { code, ...asked } = outcome;
        const afterMs = pauseAfter({ attempts, sinceMs: Date.now() - createdAt.getTime(), ...asked });
        return afterMs === undefined ? this.given(delivery, code) : { delivery, state: 'again', code, afterMs };
      }
    }
  }

  private given(delivery: ClaimedDelivery, code: string): Settled {
    const { id, organizationId, channel, event, attempts } = delivery;
    this.logger.error({ id, organizationId, channel, event, attempts, code }, 'a notification was not delivered, and is not tried again');
    return { delivery, state: 'dead', code };
  }
}

const GIVEN_BACK = (delivery: ClaimedDelivery): Settled => ({ delivery, state: 'again', afterMs: 0, untried: true });

/** A question that has its answer meanwhile is not put to people any more. */
function isAnswered(message: Message): boolean {
  return message.about === 'request' && QUESTIONS.has(message.event) && !isOpen(message.request.status);
}
