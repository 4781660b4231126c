import { setTimeout as pause } from 'node:timers/promises';

export interface Patience {
  /** Milliseconds until the last failure is thrown. */
  readonly within?: number;
  readonly every?: number;
}

/** Repeats `attempt` until it throws no more, and returns what it gave; when time is up, its last error is the test's. */
export async function eventually<T>(attempt: () => T | Promise<T>, { within = 120_000, every = 25 }: Patience = {}): Promise<T> {
  const deadline = performance.now() + within;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() >= deadline) throw error;
      await pause(every);
    }
  }
}
