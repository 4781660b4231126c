import { EventEmitter } from 'node:events';
import { Injectable } from '@nestjs/common';
import { CallerCheck } from '../auth/caller-check.js';
import type { Caller } from '../auth/principal.js';

/** Somebody else's commit is noticed by looking, this often at the latest. */
const LOOK_EVERY_MS = 500;
/** How often a held caller's credential is asked for again. */
const CHECK_EVERY_MS = 15_000;
const WAITS_PER_PRINCIPAL = 64;

/**
 * Holds answers until the thing that is asked about is final. A waiter holds no database connection: it looks when it
 * is woken by a commit of this process, and every half second for those of other replicas.
 */
@Injectable()
export class Waiters {
  private readonly bell = new EventEmitter().setMaxListeners(0);
  private readonly held = new Map<string, number>();
  private closing = false;

  constructor(private readonly callers: CallerCheck) {}

  wake(topic: string): void {
    this.bell.emit(topic);
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
    let seen = await read();
    const held = this.held.get(caller.actorId) ?? 0;
    if (seconds === 0 || isFinal(seen) || held >= WAITS_PER_PRINCIPAL) return seen;
    this.held.set(caller.actorId, held + 1);
    try {
      let checked = Date.now();
      while (!isFinal(seen) && !this.closing) {
        const left = deadline - Date.now();
        if (left <= 0) break;
        await this.next(topic, Math.min(left, LOOK_EVERY_MS));
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

  private next(topic: string, withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.bell.off(topic, done);
        resolve();
      };
      const timer = setTimeout(done, withinMs);
      this.bell.on(topic, done);
    });
  }
}
