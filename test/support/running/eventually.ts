import { setTimeout as pause } from 'node:timers/promises';

export interface Patience {
  /** Milliseconds until the last failure is thrown. */
  readonly within?: number;
  /** Milliseconds between attempts at first; later they grow with the time that has passed, to 150: most attempts are calls to a server. */
  readonly every?: number;
}

const LONGEST_PAUSE_MS = 150;

/** Repeats `attempt` until it throws no more, and returns what it gave; when time is up, its last error is the test's. */
export async function eventually<T>(attempt: () => T | Promise<T>, { within = 120_000, every = 25 }: Patience = {}): Promise<T> {
  const began = performance.now();
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const passed = performance.now() - began;
      if (passed >= within) throw error;
      await pause(Math.max(every, Math.min(LONGEST_PAUSE_MS, passed / 4)));
    }
  }
}
