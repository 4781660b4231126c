import type { EventEmitter } from 'node:events';

/** A listener on one topic. A notification that arrives while nobody waits is kept for the next wait. */
export class Signal {
  private isNotified = false;
  private wake: (() => void) | undefined;

  constructor(
    private readonly topics: EventEmitter,
    private readonly topic: string,
  ) {
    topics.on(topic, this.notify);
  }

  /** Resolves at the next notification (at once if one arrived since the last wait), or when the time is over. */
  next(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.wake = undefined;
        this.isNotified = false;
        resolve();
      };
      const timer = setTimeout(done, withinMs);
      this.wake = done;
      if (this.isNotified) done();
    });
  }

  close(): void {
    this.topics.off(this.topic, this.notify);
  }

  readonly notify = (): void => {
    this.isNotified = true;
    this.wake?.();
  };
}
