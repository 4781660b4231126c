import { setImmediate, setTimeout as rest } from 'node:timers/promises';
import type { LogCheck } from '../../../domain/audit/integrity/log-check.js';

/**
 * How long others wait while entries and rows are judged, each of which may take some milliseconds, and few of them some tenths of a
 * second.
 */
const UNSHARED_MS = 20;

/** However long the judging of one entry took. */
const LONGEST_REST_MS = 200;

/**
 * Who judges in this process. One at a time goes on in a turn of its loop: of several that all did, a call would wait for each of them
 * whenever it comes on by a step. While others wait for their turn, the thread is given to calls for as long as one was judging.
 */
const judging = { waiting: 0, last: Promise.resolve() };

function turn(): Promise<void> {
  judging.waiting++;
  judging.last = judging.last.then(async () => {
    const begun = performance.now();
    // Comes when the one before has judged for its time.
    await setImmediate();
    if (judging.waiting > 1) await rest(Math.min(performance.now() - begun, LONGEST_REST_MS));
    judging.waiting--;
  });
  return judging.last;
}

/** Lets calls of others come in between, where a server does much in its own thread. */
export class Pauses {
  private since = performance.now();

  /** @returns nothing where it has not been long */
  due(): Promise<void> | undefined {
    return performance.now() - this.since > UNSHARED_MS ? this.take() : undefined;
  }

  private async take(): Promise<void> {
    await turn();
    this.since = performance.now();
  }
}

/** A judge that lets others come in between its entries. */
export function yielding(judge: LogCheck, pauses: Pauses): LogCheck {
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
