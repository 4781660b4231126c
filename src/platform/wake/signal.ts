import type { EventEmitter } from 'node:events';

/** One listener's ear on one topic. It remembers a ring until somebody waits for it. */
export class Signal {
  private rung = false;
  private waken: (() => void) | undefined;

  constructor(
    private readonly bells: EventEmitter,
    private readonly topic: string,
  ) {
    bells.on(topic, this.notify);
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
    this.bells.off(this.topic, this.notify);
  }

  readonly notify = (): void => {
    this.rung = true;
    this.waken?.();
  };
}
