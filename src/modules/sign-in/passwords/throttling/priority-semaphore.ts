/** Who waits: somebody who has shown before who they are goes before whoever only says so. */
export type CallerPriority = 'known' | 'stranger';

export interface SemaphoreBounds {
  readonly atOnce: number;
  /** Of each standing: strangers, however many, take no place from those who are known. */
  readonly waiting: number;
}

/** There is no place left to wait in. */
export class SemaphoreFull extends Error {
  constructor() {
    super('too many are waiting');
    this.name = 'LaneFull';
  }
}

/** Dear work, so many at once and so many waiting, so that it never takes the processor from everything else. */
export class PrioritySemaphore {
  private running = 0;
  private readonly queues: Readonly<Record<CallerPriority, (() => void)[]>> = { known: [], stranger: [] };

  constructor(private readonly bounds: SemaphoreBounds) {}

  hasRoom(priority: CallerPriority): boolean {
    return this.running < this.bounds.atOnce || this.queues[priority].length < this.bounds.waiting;
  }

  /** @throws LaneFull at once, instead of letting somebody wait for long */
  async run<Result>(priority: CallerPriority, work: () => Promise<Result>): Promise<Result> {
    if (!this.hasRoom(priority)) throw new SemaphoreFull();
    if (this.running < this.bounds.atOnce) this.running++;
    // Whoever ends hands on the place, so it is never free in between.
    else await new Promise<void>((resolve) => this.queues[priority].push(resolve));
    try {
      return await work();
    } finally {
      const next = this.queues.known.shift() ?? this.queues.stranger.shift();
      if (next) next();
      else this.running--;
    }
  }
}
