import type { EventEmitter } from 'node:events';

/** One listener's ear on one topic. It remembers a ring until somebody waits for it. */
export class Bell {
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

  readonly ring = (): void => {
    this.rung = true;
    this.waken?.();
  };
}
