import { EventEmitter } from 'node:events';
import { Injectable } from '@nestjs/common';
import { CallerCheck } from '../auth/caller-check.js';
import type { Caller } from '../auth/principal.js';
import { WakeChannel } from './wake-channel.js';

/** While news of other replicas come in, looking is only for what they might have missed. */
const LOOK_EVERY_MS = 10_000;
/** While they do not, everybody's looks together shall not be more often than this. */
const LOOK_ALONE_EVERY_MS = 500;
const LOOKS_PER_SECOND = 500;
/** How often a held caller's credential is asked for again. */
const CHECK_EVERY_MS = 15_000;
const WAITS_PER_PRINCIPAL = 64;

/**
 * Holds answers until the thing that is asked about is final. A waiter holds no database connection: it looks when it is
 * woken by a commit, of this process or (LISTEN/NOTIFY) of another replica. While news are away it looks every half second,
 * and less often where thousands wait.
 */
@Injectable()
export class Waiters {
  private readonly bell = new EventEmitter().setMaxListeners(0);
  private readonly held = new Map<string, number>();
  private waiting = 0;
  private closing = false;

  constructor(
    private readonly callers: CallerCheck,
    private readonly channel: WakeChannel,
  ) {
    channel.listen(
      (topic) => void this.bell.emit(topic),
      () => this.lookSoon(),
    );
  }

  /** Something was committed here: whoever waits for it looks, on every replica. */
  wake(topic: string): void {
    this.bell.emit(topic);
    this.channel.send(topic);
  }

  /**
   * Reads again and again until what is read is final or the time is over, and returns what was read last.
   *
   * @param seconds how long the answer may be held; 0 asks once. Over 64 waits of one principal are answered at once.
   */
  async until<Seen>(
    topic: string,
    caller: Caller,
    seconds: number,
    read: () => Promise<Seen>,
    isFinal: (seen: Seen) => boolean,
  ): Promise<Seen> {
    const deadline = Date.now() + seconds * 1000;
    const held = this.held.get(caller.actorId) ?? 0;
    if (seconds === 0 || held >= WAITS_PER_PRINCIPAL) return read();
    this.held.set(caller.actorId, held + 1);
    this.waiting++;
    // Before the first look: what is committed between it and the wait rings, and is not missed.
    const bell = new Bell(this.bell, topic);
    try {
      let seen = await read();
      if (isFinal(seen)) return seen;
      let checked = Date.now();
      while (!isFinal(seen)) {
        const left = deadline - Date.now();
        if (left <= 0) break;
        await bell.next(Math.min(left, this.pause(), CHECK_EVERY_MS));
        if (this.closing) return seen;
        if (Date.now() - checked >= CHECK_EVERY_MS) {
          await this.callers.assertHolds(caller);
          checked = Date.now();
        }
        seen = await read();
      }
      // Whoever lost their credential while they waited is told that, and not the news.
      await this.callers.assertHolds(caller);
      return seen;
    } finally {
      bell.close();
      this.waiting--;
      const now = (this.held.get(caller.actorId) ?? 1) - 1;
      if (now > 0) this.held.set(caller.actorId, now);
      else this.held.delete(caller.actorId);
    }
  }

  /** Answers all that are held, with what is known, and holds nobody any more: the server is about to end. */
  release(): void {
    this.closing = true;
    for (const topic of this.bell.eventNames()) this.bell.emit(topic);
  }

  /** News may have been missed: everybody looks, but not all at once. */
  private lookSoon(): void {
    const within = (this.waiting / LOOKS_PER_SECOND) * 1_000;
    for (const topic of this.bell.eventNames()) setTimeout(() => this.bell.emit(topic), Math.random() * within);
  }

  /** Not the same for everybody, so that those who came together do not look together. */
  private pause(): number {
    const alone = Math.max(LOOK_ALONE_EVERY_MS, (this.waiting / LOOKS_PER_SECOND) * 1_000);
    return (this.channel.isOpen ? LOOK_EVERY_MS : alone) * (0.75 + Math.random() / 2);
  }
}

/** One waiter's ear on one topic. It remembers a ring until somebody waits for it. */
class Bell {
  private rung = false;
  private waken: (() => void) | undefined;

  constructor(
    private readonly bells: EventEmitter,
    private readonly topic: string,
  ) {
    bells.on(topic, this.ring);
  }

  /** Resolves at the next ring, at once if there was one since the last, or when the time is over. */
  next(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.waken = undefined;
        this.rung = false;
        resolve();
      };
      const timer = setTimeout(done, withinMs);
      this.waken = done;
      if (this.rung) done();
    });
  }

  close(): void {
    this.bells.off(this.topic, this.ring);
  }

  private readonly ring = (): void => {
    this.rung = true;
    this.waken?.();
  };
}
