/** Who waits: `known` callers, who have signed in from there before, go before `stranger`s. */
export type CallerPriority = 'known' | 'stranger';

export interface SemaphoreBounds {
  readonly atOnce: number;
  /** How many of each priority may wait: strangers, however many, take no slot from known callers. */
  readonly waiting: number;
}

/** Too many of this priority wait already. */
export class SemaphoreFull extends Error {
  constructor() {
    super('too many are waiting');
    this.name = 'SemaphoreFull';
  }
}

/** Bounds expensive work, how much runs and how much waits, so that it never takes the processor from everything else. */
export class PrioritySemaphore {
  private running = 0;
  private readonly queues: Readonly<Record<CallerPriority, (() => void)[]>> = { known: [], stranger: [] };

  constructor(private readonly bounds: SemaphoreBounds) {}

  hasRoom(priority: CallerPriority): boolean {
    return this.running < this.bounds.atOnce || this.queues[priority].length < this.bounds.waiting;
  }

  /** @throws SemaphoreFull at once, instead of letting the caller wait for long */
  async run<Result>(priority: CallerPriority, work: () => Promise<Result>): Promise<Result> {
    if (!this.hasRoom(priority)) throw new SemaphoreFull();
    if (this.running < this.bounds.atOnce) this.running++;
    // Work that ends passes its slot to the next, so that the slot is never free in between.
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
