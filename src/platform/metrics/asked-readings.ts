import type { Reading } from './metrics.js';

const ASK_EVERY_MS = 5_000;
const ANSWER_WITHIN_MS = 2_000;

interface Source {
  readonly name: string;
  readonly read: () => Promise<readonly Reading[]>;
}

/** What has to be asked of the database: rarely, by one statement at a time, and never for longer than a scrape may take. */
export class AskedReadings {
  private readonly sources: Source[] = [];
  private readonly known = new Map<string, readonly Reading[]>();
  private asking: Promise<void> | undefined;
  private askedAt = -Infinity;

  /** @param failed is told the source whose statement failed */
  constructor(private readonly failed: (source: string) => void) {}

  add(source: Source): void {
    this.sources.push(source);
  }

  /** Without what the database does not answer now: an old number would look like a good one. */
  async now(): Promise<readonly Reading[]> {
    const at = performance.now();
    if (this.asking === undefined && at - this.askedAt >= ASK_EVERY_MS) {
      this.askedAt = at;
      this.asking = this.askAll().finally(() => (this.asking = undefined));
    }
    await Promise.race([this.asking, new Promise((late) => void setTimeout(late, ANSWER_WITHIN_MS).unref())]);
    return [...this.known.values()].flat();
  }

  private async askAll(): Promise<void> {
    this.known.clear();
    for (const { name, read } of this.sources) {
      try {
        this.known.set(name, await read());
      } catch {
        // What is wrong with the database is said by whoever runs its statements.
        this.failed(name);
      }
    }
  }
}
