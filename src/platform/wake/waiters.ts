import { EventEmitter } from 'node:events';
import { Inject, Injectable } from '@nestjs/common';
import type { Caller } from '../auth/access/principal.js';
import { CONFIG, type CompleteConfig } from '../config/config.js';
import { Signal } from './signal.js';
import { WaitingCallers } from './waiting-callers.js';
import { WaiterSlots } from './waiter-slots.js';
import { Semaphore } from './semaphore.js';
import { WakeChannel } from './wake-channel.js';

/** While news of other replicas come in, looking is only for what they might have missed. */
const LOOK_EVERY_MS = 10_000;
const LOOKS_PER_SECOND = 100;
/** While they do not, everybody's looks together shall not be more often than this. */
const LOOK_ALONE_EVERY_MS = 500;
const LOOKS_PER_SECOND_ALONE = 500;

/** What comes first in a wait. */
export type FirstOf = 'a look' | 'news';

/**
 * Holds answers until the thing that is asked about is final. A waiter holds no database connection: it looks when it is
 * woken by a commit, of this process or (LISTEN/NOTIFY) of another replica. While news are away it looks every half second,
 * and less often where thousands wait. All that are woken at once look by turns, so that they leave connections to other calls.
 */
@Injectable()
export class Waiters {
  private readonly bells = new EventEmitter().setMaxListeners(0);
  private readonly looks: Semaphore;
  private closing = false;
  private readonly onRelease: (() => void)[] = [];

  constructor(
    private readonly callers: WaitingCallers,
    private readonly places: WaiterSlots,
    private readonly channel: WakeChannel,
    @Inject(CONFIG) { databasePoolSize }: CompleteConfig,
  ) {
    this.looks = new Semaphore(Math.max(1, databasePoolSize >> 1));
    channel.listen(
      (topic) => this.ring(topic),
      () => this.lookSoon(),
    );
  }

  /** Something was committed here: whoever waits for it looks, on every replica. */
  wake(topic: string): void {
    this.ring(topic);
    this.channel.send(topic);
  }

  /** Rings at every commit that is news of the topic; of a kind of ids (`hitl`) at those of each such id too. */
  bell(topic: string): Signal {
    return new Signal(this.bells, topic);
  }

  /** Whether other replicas' news come in at this moment. */
  get hearsOthers(): boolean {
    return this.channel.isOpen;
  }

  /** Whether the server is about to end, and holds nobody any more. */
  get isClosing(): boolean {
    return this.closing;
  }

  /** @param listener called when all that are held are to be let go */
  atRelease(listener: () => void): void {
    this.onRelease.push(listener);
  }

  /**
   * Reads again and again until what is read is final or the time is over, and returns what was read last.
   *
   * @param seconds how long the answer may be held; 0 asks once. Over 64 waits of one principal are answered at once.
   * @param first where this process itself has just begun what is waited for, a look before the first news would be for nothing
   */
  async until<Seen>(
    topic: string,
    caller: Caller,
    seconds: number,
    read: () => Promise<Seen>,
    isFinal: (seen: Seen) => boolean,
    first: FirstOf = 'a look',
  ): Promise<Seen> {
    const deadline = Date.now() + seconds * 1000;
    const giveBack = seconds === 0 ? undefined : this.places.take(caller.actorId);
    if (!giveBack) return read();
    // Before the first look: what is committed between it and the wait rings, and is not missed.
    const bell = this.bell(topic);
    const held = this.callers.hold(caller, bell.notify);
    try {
      let seen = first === 'news' ? undefined : await read();
      if (seen !== undefined && isFinal(seen)) return seen;
      while (seen === undefined || !isFinal(seen)) {
        const left = deadline - Date.now();
        if (left <= 0) break;
        await bell.next(Math.min(left, this.pause()));
        if (this.closing) return seen ?? (await read());
        if (held.lost) throw held.lost;
        seen = await this.looks.run(read);
      }
      // Whoever lost their credential while they waited is told that, and not the news.
      await held.assertHolds();
      return seen ?? (await read());
    } finally {
      bell.close();
      held.release();
      giveBack();
    }
  }

  /** Answers all that are held, with what is known, and holds nobody any more: the server is about to end. */
  release(): void {
    this.closing = true;
    for (const listener of this.onRelease) listener();
    for (const topic of this.bells.eventNames()) this.bells.emit(topic);
  }

  private ring(topic: string): void {
    this.bells.emit(topic);
    const end = topic.indexOf('_');
    if (end > 0) this.bells.emit(topic.slice(0, end));
  }

  /** News may have been missed: everybody looks, but not all at once. */
  private lookSoon(): void {
    const within = (this.places.all / LOOKS_PER_SECOND_ALONE) * 1_000;
    for (const topic of this.bells.eventNames()) setTimeout(() => this.bells.emit(topic), Math.random() * within);
  }

  /** Not the same for everybody, so that those who came together do not look together. */
  private pause(): number {
    const often = this.channel.isOpen ? LOOK_EVERY_MS : LOOK_ALONE_EVERY_MS;
    const together = (this.places.all / (this.channel.isOpen ? LOOKS_PER_SECOND : LOOKS_PER_SECOND_ALONE)) * 1_000;
    return Math.max(often, together) * (0.75 + Math.random() / 2);
  }
}
