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
import type { ClaimedDelivery, Settled, Target } from './delivery.store.js';
import { type MessageFacts, MessagesQuery } from './messages.query.js';
import { AT_ONCE, type Receiver, Receivers } from './receivers.js';

/** A turn lasts so long: then other targets have theirs. Far from the end of the lease, since an attempt takes 10 s at most. */
const TURN_MS = 5_000;
/** Outcomes are stored together, and early: what a server had delivered and not stored when it died is delivered again. */
const STORED_AT_ONCE = 5;

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

  /**
   * Once one has failed, or the turn is over, those that were not begun are given back: their receiver is the same.
   *
   * @param store is given the outcomes, a few at a time
   * @returns whether there may be more for this target at once
   */
  async deliver(
    target: Target, claimed: readonly ClaimedDelivery[], slots: Semaphore, store: (settled: readonly Settled[]) => Promise<void>,
  ): Promise<boolean> {
    const begunAt = performance.now();
    const [channels, facts] = await Promise.all([this.channels.of([target.organizationId]), this.messages.of(claimed)]);
    const config = channels.get(target.organizationId)?.external.find(({ channel }) => channel === target.channel);
    const receiver = this.receivers.of(target);
    const waiting = [...claimed];
    receiver.meet(config?.settings);
    let settled: Settled[] = [];
    let goesOn = true;
    // Asked once there is a slot: mail has two for all organizations, and a lease does not wait.
    const attempt = (delivery: ClaimedDelivery) => async (): Promise<Settled> => {
      const isOver = performance.now() - begunAt > TURN_MS;
      return !goesOn || isOver ? GIVEN_BACK(delivery) : this.deliverOne(delivery, receiver, config, facts);
    };
    const worker = async (): Promise<void> => {
      for (let delivery = waiting.shift(); delivery !== undefined; delivery = waiting.shift()) {
        const one = await receiver.slots.run(() => slots.run(attempt(delivery)));
        if (one.state === 'again' && one.isOfAddressee !== true) goesOn = false;
        settled.push(one);
        if (settled.length < STORED_AT_ONCE) continue;
        const some = settled;
        settled = [];
        await store(some);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    await store(settled);
    return goesOn;
  }

  /** Whether a receiver that rests has another address by now, of which nothing is known. */
  async isChanged(target: Target): Promise<boolean> {
    const channels = (await this.channels.of([target.organizationId])).get(target.organizationId);
    const receiver = this.receivers.of(target);
    receiver.meet(channels?.external.find(({ channel }) => channel === target.channel)?.settings);
    return !receiver.isResting;
  }

  private async deliverOne(
    delivery: ClaimedDelivery, receiver: Receiver, config: ChannelConfig | undefined, facts: MessageFacts,
  ): Promise<Settled> {
    const outgoing = this.outgoing(delivery, config, facts);
    if ('state' in outgoing) return outgoing;
    if (!receiver.breaker.enter()) return GIVEN_BACK(delivery);
    const begunAt = performance.now();
    const outcome = await this.send(outgoing);
    receiver.answered(performance.now() - begunAt);
    if (outcome.kind !== 'retry' || outcome.isOfAddressee) receiver.breaker.succeeded();
    else {
      receiver.breaker.failed();
      receiver.pause(outcome.afterMs ?? 0);
    }
    return this.settled(delivery, outcome, outgoing.config);
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

  private async settled(delivery: ClaimedDelivery, outcome: SendOutcome, config: ChannelConfig): Promise<Settled> {
    switch (outcome.kind) {
      case 'delivered':
        return { delivery, state: 'delivered', ...(outcome.receipt === undefined ? {} : { receipt: outcome.receipt }) };
      case 'gone':
        await this.channels.switchOff(config, outcome.code);
        return this.given(delivery, outcome.code);
      case 'dead':
        return this.given(delivery, outcome.code);
      case 'retry': {
        const { attempts, createdAt } = delivery;
        const { code, isOfAddressee, ...asked } = outcome;
        const afterMs = pauseAfter({ attempts, sinceMs: Date.now() - createdAt.getTime(), ...asked });
        if (afterMs === undefined) return this.given(delivery, code);
        return { delivery, state: 'again', code, afterMs, ...(isOfAddressee ? { isOfAddressee } : {}) };
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
