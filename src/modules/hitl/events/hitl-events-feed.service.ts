import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { scopeOfEverything } from '../../../platform/auth/access/scope.js';
import { isPassing } from '../../../platform/http/reply/failure.js';
import { LOGGER } from '../../../platform/logging/token.js';
import type { Signal } from '../../../platform/wake/signal.js';
import { Waiters } from '../../../platform/wake/waiters.js';
import { type EventPosition, HITL_TOPIC, type HitlEvent } from './hitl-event.js';
import { HitlEventsQuery } from './hitl-events.query.js';

/** While signals come in, polling only finds events whose signal was lost. */
const POLL_EVERY_MS = 2_000;
const POLL_ALONE_EVERY_MS = 500;
/** Commits of this time are read together. */
const GATHER_MS = 5;
/** While events wait for an older transaction, the feed reads again after this time at first, and at last. */
const OPEN_TRANSACTION_RETRY_MS = { first: 10, last: 250 };
const PAGE = 200;
/** How long the next page waits for clients to take the former one. */
const DRAIN_WAIT_MS = 200;

export interface EventListener {
  /** Called in the order of the events, each once. */
  deliver(event: HitlEvent): void;
  /** Resolves when the listener can take more. */
  drained(): Promise<void>;
}

/** Lasts from the first listener's coming to the last one's going. */
interface Reading {
  readonly begun: Promise<EventPosition>;
  readonly signal: Signal;
  position?: EventPosition;
  over: boolean;
}

/** Reads new events once for all streams of this process; reads nothing while there are no streams. */
@Injectable()
export class HitlEventsFeed {
  private readonly listeners = new Set<EventListener>();
  private reading: Reading | undefined;

  constructor(
    private readonly events: HitlEventsQuery,
    private readonly waiters: Waiters,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Up to where all listeners have got the events. */
  get position(): EventPosition | undefined {
    return this.reading?.position;
  }

  /** @returns the position after which the listener gets every event */
  async join(listener: EventListener): Promise<EventPosition> {
    this.listeners.add(listener);
    this.reading ??= this.begin();
    const reading = this.reading;
    return reading.position ?? reading.begun;
  }

  leave(listener: EventListener): void {
    if (!this.listeners.delete(listener) || this.listeners.size > 0) return;
    this.end();
  }

  private begin(): Reading {
    const reading: Reading = { begun: this.events.now(), signal: this.waiters.signal(HITL_TOPIC), over: false };
    reading.begun.then(
      (position) => {
        reading.position = position;
        void this.follow(reading, position);
      },
      () => {
        // Listeners that joined are refused by the same failure, and leave.
        if (this.reading === reading) this.end();
      },
    );
    return reading;
  }

  private end(): void {
    const { reading } = this;
    if (!reading) return;
    this.reading = undefined;
    reading.over = true;
    reading.signal.close();
    reading.signal.notify();
  }

  private async follow(reading: Reading, from: EventPosition): Promise<void> {
    let position = from;
    let patience = OPEN_TRANSACTION_RETRY_MS.first;
    while (!reading.over) {
      let wait = this.waiters.hearsOthers ? POLL_EVERY_MS : POLL_ALONE_EVERY_MS;
      try {
        const { events, settled, isIncomplete } = await this.events.read(scopeOfEverything(), position, PAGE);
        if (reading.over) return;
        for (const event of events) for (const listener of [...this.listeners]) listener.deliver(event);
        const isAll = events.length < PAGE;
        position = isAll ? settled : events.at(-1)!.position;
        reading.position = position;
        if (!isAll) {
          await Promise.race([Promise.all([...this.listeners].map((listener) => listener.drained())), pause(DRAIN_WAIT_MS)]);
          continue;
        }
        if (isIncomplete) wait = Math.min(wait, patience);
        patience = isIncomplete ? Math.min(patience * 2, OPEN_TRANSACTION_RETRY_MS.last) : OPEN_TRANSACTION_RETRY_MS.first;
      } catch (error) {
        wait = POLL_ALONE_EVERY_MS;
        if (!isPassing(error)) this.logger.error({ err: error }, 'events cannot be read at the moment; streams wait');
      }
      await pause(GATHER_MS);
      await reading.signal.next(wait);
    }
  }
}
