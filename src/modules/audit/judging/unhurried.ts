import { setImmediate } from 'node:timers/promises';
import type { LogJudge } from '../../../domain/audit/log-judge.js';

/**
 * How long others wait while entries and rows are judged, each of which may take some milliseconds, and few of them some tenths of a
 * second.
 */
const UNSHARED_MS = 20;

/** Lets calls of others come in between, where a server does much in its own thread. */
export class Pauses {
  private since = performance.now();

  /** @returns nothing where it has not been long */
  due(): Promise<void> | undefined {
    return performance.now() - this.since > UNSHARED_MS ? this.take() : undefined;
  }

  private async take(): Promise<void> {
    await setImmediate();
    this.since = performance.now();
  }
}

/** A judge that lets others come in between its entries. */
export function unhurried(judge: LogJudge, pauses: Pauses): LogJudge {
  return {
    entry: (stored) => judge.entry(stored) ?? pauses.due(),
    end: () => judge.end(),
  };
}

/** Items one by one, between which others come in, for whoever reads them in batches. */
export async function* oneByOne<Item>(batches: AsyncIterable<readonly Item[]>, pauses: Pauses): AsyncGenerator<readonly Item[]> {
  for await (const batch of batches) {
    for (const item of batch) {
      yield [item];
      const due = pauses.due();
      if (due) await due;
    }
  }
}
