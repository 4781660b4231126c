import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { scopeOfEverything } from '../../../platform/auth/access/scope.js';
import { LOGGER } from '../../../platform/logging/token.js';
import type { Signal } from '../../../platform/wake/signal.js';
import { Waiters } from '../../../platform/wake/waiters.js';
import { type EventPosition, HITL_NEWS, type HitlEvent } from './hitl-event.js';
import { HitlEventsQuery } from './hitl-events.query.js';

/** While news come in, looking is only for what nobody was told of. */
const LOOK_EVERY_MS = 2_000;
const LOOK_ALONE_EVERY_MS = 500;
/** Commits of this time are read together. */
const GATHER_MS = 5;
/** What an older transaction holds back is looked for again after this time at first, and at last. */
const HELD_BACK_MS = { first: 10, last: 250 };
const AT_ONCE = 200;
/** How long what follows waits for clients to take what went before. */
const ROOM_WITHIN_MS = 200;

export interface EventListener {
  /** Called in the order of the events, each once. */
  hear(event: HitlEvent): void;
  /** Resolves when there is room for more. */
  room(): Promise<void>;
}

/** From the first listener's coming to the last one's going. */
interface Reading {
  readonly begun: Promise<EventPosition>;
  readonly bell: Signal;
  place?: EventPosition;
  over: boolean;
}

/** Reads new events once for all streams of this process; nothing while there are none. */
@Injectable()
export class HitlEventsFeed {
  private readonly listeners = new Set<EventListener>();
  private reading: Reading | undefined;

  constructor(
    private readonly events: HitlEventsQuery,
    private readonly waiters: Waiters,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** How far everybody has been told. */
  get place(): EventPosition | undefined {
    return this.reading?.place;
  }

  /** @returns the place behind which the listener hears everything */
  async join(listener: EventListener): Promise<EventPosition> {
    this.listeners.add(listener);
    this.reading ??= this.begin();
    const reading = this.reading;
    return reading.place ?? reading.begun;
  }

  leave(listener: EventListener): void {
    if (!this.listeners.delete(listener) || this.listeners.size > 0) return;
    this.end();
  }

  private begin(): Reading {
    const reading: Reading = { begun: this.events.now(), bell: this.waiters.signal(HITL_NEWS), over: false };
    reading.begun.then(
      (place) => {
        reading.place = place;
        void this.follow(reading, place);
      },
      () => {
        // Whoever joined is refused by the same failure, and leaves.
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
    reading.bell.close();
    reading.bell.notify();
  }

  private async follow(reading: Reading, from: EventPosition): Promise<void> {
    let place = from;
    let patience = HELD_BACK_MS.first;
    while (!reading.over) {
      let wait = this.waiters.hearsOthers ? LOOK_EVERY_MS : LOOK_ALONE_EVERY_MS;
      try {
        const { events, settled, heldBack } = await this.events.look(scopeOfEverything(), place, AT_ONCE);
        if (reading.over) return;
        for (const event of events) for (const listener of [...this.listeners]) listener.hear(event);
        const isAll = events.length < AT_ONCE;
        place = isAll ? settled : events.at(-1)!.place;
        reading.place = place;
        if (!isAll) {
          await Promise.race([Promise.all([...this.listeners].map((listener) => listener.room())), pause(ROOM_WITHIN_MS)]);
          continue;
        }
        if (heldBack) wait = Math.min(wait, patience);
        patience = heldBack ? Math.min(patience * 2, HELD_BACK_MS.last) : HELD_BACK_MS.first;
      } catch (error) {
        wait = LOOK_ALONE_EVERY_MS;
        this.logger.warn({ err: error }, 'events cannot be read at the moment; streams wait');
      }
      await pause(GATHER_MS);
      await reading.bell.next(wait);
    }
  }
}
