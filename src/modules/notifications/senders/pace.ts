import { setTimeout as pause } from 'node:timers/promises';

/** Receivers that nobody has called for a while are forgotten past this number. */
const REMEMBERED = 1_000;

/** Keeps calls to one receiver apart in time. It counts for this process: what other servers send, the receiver may still refuse. */
export class Pace {
  private readonly next = new Map<string, number>();

  constructor(private readonly apartMs: number) {}

  /** Waits for the next place in line. */
  async turn(receiver: string): Promise<void> {
    const now = performance.now();
    const at = Math.max(now, this.next.get(receiver) ?? 0);
    if (this.next.size >= REMEMBERED) for (const [key, until] of this.next) if (until <= now) this.next.delete(key);
    this.next.set(receiver, at + this.apartMs);
    if (at > now) await pause(at - now);
  }
}
