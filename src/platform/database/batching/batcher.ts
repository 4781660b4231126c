import { setTimeout } from 'node:timers/promises';
import { Problem } from '../../http/reply/problem.js';

/**
 * What became of one item of a batch: an answer, an error, another round (after a pause where a lock was taken), or what is found out
 * later, while the lane goes on.
 */
export type ItemOutcome<Answer> =
  | { kind: 'answer'; answer: Answer }
  | { kind: 'error'; error: unknown }
  | { kind: 'again'; afterMs: number }
  | { kind: 'later'; outcome: Promise<ItemOutcome<Answer>> };

export interface BatcherOptions<Item, Answer> {
  /** Batch lanes work side by side; items of one key always share a lane, so that they never wait for each other's locks. */
  lanes: number;
  largest: number;
  /**
   * A batch of several items is followed by the next no sooner than this number of milliseconds after it began, unless many wait already.
   * At a few hundred items a second batches would otherwise be of two or three items, each at the cost of a batch. Default: at once.
   */
  rhythmMs?: number;
  /** Items that may wait in one lane, or for what is found out later, before further ones are refused with 503. */
  longest: number;
  keyOf(item: Item): string;
  process(items: Item[]): Promise<ItemOutcome<Answer>[]>;
}

interface Waiting<Item, Answer> {
  item: Item;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/** Gathers items that arrive in the same round of the event loop into batches, and processes these lane by lane. */
export class Batcher<Item, Answer> {
  private readonly lanes: Lane<Item, Answer>[];

  constructor(private readonly options: BatcherOptions<Item, Answer>) {
    this.lanes = Array.from({ length: options.lanes }, () => new Lane(options));
  }

  submit(item: Item): Promise<Answer> {
    const lane = this.lanes[laneOf(this.options.keyOf(item), this.lanes.length)]!;
    return new Promise<Answer>((resolve, reject) => lane.push({ item, resolve, reject }));
  }

  /** Resolves when nothing waits or runs any more. */
  async drained(): Promise<void> {
    while (this.lanes.some((lane) => lane.busy)) await setTimeout(10);
  }
}

class Lane<Item, Answer> {
  private queue: Waiting<Item, Answer>[] = [];
  private paused = 0;
  /** Of which something is found out later. */
  private unsettled = 0;
  private running = false;

  constructor(private readonly options: BatcherOptions<Item, Answer>) {}

  get busy(): boolean {
    return this.running || this.queue.length > 0 || this.paused > 0 || this.unsettled > 0;
  }

  push(waiting: Waiting<Item, Answer>): void {
    if (this.queue.length + this.unsettled >= this.options.longest) {
      waiting.reject(new Problem('UNAVAILABLE', 'The server is overloaded. Try again in a second.', { headers: { 'Retry-After': '1' } }));
      return;
    }
    this.queue.push(waiting);
    this.wake();
  }

  private wake(): void {
    if (this.running) return;
    this.running = true;
    setImmediate(() => void this.work());
  }

  private async work(): Promise<void> {
    while (this.queue.length > 0) {
      const begun = performance.now();
      const batch = this.queue.splice(0, this.options.largest);
      let outcomes: ItemOutcome<Answer>[];
      try {
        outcomes = await this.options.process(batch.map((waiting) => waiting.item));
      } catch (error) {
        outcomes = batch.map(() => ({ kind: 'error', error }));
      }
      batch.forEach((waiting, i) => this.settle(waiting, outcomes[i]!));
      if (batch.length > 1) await this.keepRhythm(begun);
    }
    this.running = false;
  }

  private async keepRhythm(begun: number): Promise<void> {
    const { rhythmMs = 0, largest } = this.options;
    const left = begun + rhythmMs - performance.now();
    if (left > 0 && this.queue.length < largest / 4) await setTimeout(left);
  }

  private settle(waiting: Waiting<Item, Answer>, outcome: ItemOutcome<Answer>): void {
    if (outcome.kind === 'answer') waiting.resolve(outcome.answer);
    else if (outcome.kind === 'error') waiting.reject(outcome.error);
    else if (outcome.kind === 'later') {
      this.unsettled++;
      void outcome.outcome.catch((error: unknown) => ({ kind: 'error', error }) as const).then((known) => {
        this.unsettled--;
        this.settle(waiting, known);
      });
    } else if (outcome.afterMs === 0) this.queue.push(waiting);
    else {
      this.paused++;
      void setTimeout(outcome.afterMs).then(() => {
        this.paused--;
        this.queue.push(waiting);
        this.wake();
      });
    }
  }
}

function laneOf(key: string, lanes: number): number {
  let hash = 0;
  for (let i = 0; i < key.length; i++) hash = (Math.imul(hash, 31) + key.charCodeAt(i)) | 0;
  return (hash >>> 0) % lanes;
}
