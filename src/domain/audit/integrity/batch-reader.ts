/** Reads a stream of batches, one item after another. */
export class BatchReader<T> {
  private readonly batches: AsyncIterator<readonly T[]>;
  private batch: readonly T[] = [];
  private at = 0;

  constructor(batches: AsyncIterable<readonly T[]>) {
    this.batches = batches[Symbol.asyncIterator]();
  }

  /** The next item if it has been read already. */
  get ready(): T | undefined {
    return this.batch[this.at];
  }

  /** The next item, reading on if need be; undefined at the end. */
  async peek(): Promise<T | undefined> {
    while (this.at >= this.batch.length) {
      const read = await this.batches.next();
      if (read.done) return undefined;
      [this.batch, this.at] = [read.value, 0];
    }
    return this.batch[this.at];
  }

  /** The next item, which has been read already. */
  take(): T {
    return this.batch[this.at++]!;
  }
}
